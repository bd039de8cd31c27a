from __future__ import annotations

from typing import Any

from kith.base.settings import Settings
from kith.social.addresses import file_url


def render_card(settings: Settings, data: dict[str, Any]) -> dict[str, Any]:
    """PreviewCard: as it is kept, with the address of its picture."""
    return data | {"image": file_url(settings, data["image"]) if data["image"] else None}
