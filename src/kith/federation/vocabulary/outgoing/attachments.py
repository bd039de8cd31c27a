"""Pictures, films and sound of a post."""

from __future__ import annotations

from typing import Any

from kith.base.settings import Settings
from kith.federation.vocabulary.outgoing.contexts import Doc
from kith.federation.vocabulary.outgoing.moments import lasting
from kith.social.addresses import file_url
from kith.social.files.keys import mime_of
from kith.social.media.tables import Media

__all__ = ["attachment", "image"]

_WITH_THUMBNAIL = ("video", "audio")


def attachment(settings: Settings, row: Media) -> Doc:
    """A Document; what is not known of it is left out."""
    original = _of(row.meta, "original")
    made: Doc = {
        "type": "Document",
        "mediaType": row.mime,
        "url": file_url(settings, row.file) if row.file else row.remote_url,
        "name": row.description,
        "blurhash": row.blurhash,
    }
    focus = _of(row.meta, "focus")
    if "x" in focus and "y" in focus:
        made["focalPoint"] = [float(focus["x"]), float(focus["y"])]
    made |= {name: original[name] for name in ("width", "height") if original.get(name)}
    if original.get("duration"):
        made["duration"] = lasting(original["duration"])
    if row.kind in _WITH_THUMBNAIL and row.preview:
        made["icon"] = image(settings, row.preview)
    return made


def image(settings: Settings, file: str, description: str = "") -> Doc:
    """An Image; its type is what the name of the file says, as it is for whoever fetches it."""
    made: Doc = {"type": "Image", "mediaType": mime_of(file), "url": file_url(settings, file)}
    return made | {"summary": description} if description else made


def _of(meta: dict[str, Any], name: str) -> dict[str, Any]:
    found = meta.get(name)
    return found if isinstance(found, dict) else {}
