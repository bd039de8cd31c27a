from __future__ import annotations

from typing import Any

import msgspec

from kith import __version__
from kith.base.settings import Settings

MASTODON_VERSION = "4.5.0"
VERSION = f"{MASTODON_VERSION} (compatible; Kith {__version__})"

LIMITS: dict[str, Any] = {
    "accounts": {
        "max_featured_tags": 10,
        "max_pinned_statuses": 5,
        "max_display_name_length": 40,
        "max_note_length": 500,
        "max_avatar_description_length": 150,
        "max_header_description_length": 150,
        "max_profile_fields": 4,
        "profile_field_name_limit": 255,
        "profile_field_value_limit": 255,
    },
    "statuses": {"max_characters": 500, "max_media_attachments": 4, "characters_reserved_per_url": 23},
    "media_attachments": {
        "supported_mime_types": [
            "image/jpeg", "image/png", "image/gif", "image/heic", "image/heif", "image/webp", "image/avif",
            "video/webm", "video/mp4", "video/quicktime", "video/ogg", "audio/wave", "audio/wav", "audio/x-wav",
            "audio/ogg", "audio/vorbis", "audio/mpeg", "audio/mp3", "audio/webm", "audio/flac", "audio/aac",
            "audio/m4a", "audio/x-m4a", "audio/mp4",
        ],
        "description_limit": 1500,
        "image_size_limit": 16_777_216,
        "image_matrix_limit": 33_177_600,
        "video_size_limit": 103_809_024,
        "video_frame_rate_limit": 120,
        "video_matrix_limit": 8_294_400,
    },
    "polls": {
        "max_options": 4,
        "max_characters_per_option": 50,
        "min_expiration": 300,
        "max_expiration": 2_629_746,
    },
}  # fmt: skip


class V1Instance(msgspec.Struct):
    uri: str
    title: str
    short_description: str
    description: str
    email: str
    version: str
    urls: dict[str, str]
    stats: dict[str, int]
    thumbnail: str | None
    languages: list[str]
    registrations: bool
    approval_required: bool
    invites_enabled: bool
    configuration: dict[str, Any]
    contact_account: None
    rules: list[Any]


def render_v1(settings: Settings, *, members: int) -> V1Instance:
    streaming = "ws" + settings.base_url.removeprefix("http")
    return V1Instance(
        uri=settings.domain,
        title=settings.title,
        short_description=settings.description,
        description=settings.description,
        email=settings.contact_email,
        version=VERSION,
        urls={"streaming_api": streaming},
        stats={"user_count": members, "status_count": 0, "domain_count": 0},
        thumbnail=None,
        languages=["en"],
        registrations=settings.registrations != "closed",
        approval_required=settings.registrations == "approval",
        invites_enabled=False,
        configuration=LIMITS,
        contact_account=None,
        rules=[],
    )
