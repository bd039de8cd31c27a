from __future__ import annotations

from typing import Any

from kith.social.translation.service import Translation


def render_translation(made: Translation) -> dict[str, Any]:
    poll = None
    if made.poll_id is not None:
        poll = {"id": str(made.poll_id), "options": [{"title": title} for title in made.options]}
    return {
        "content": made.content,
        "spoiler_text": made.spoiler_text,
        "language": made.language,
        "detected_source_language": made.detected,
        "provider": made.provider,
        "poll": poll,
        "media_attachments": [{"id": str(id), "description": text} for id, text in made.descriptions],
    }
