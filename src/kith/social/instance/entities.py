from __future__ import annotations

from typing import Any

import msgspec

from kith import __version__
from kith.base.settings import Settings
from kith.social.addresses import NO_HEADER, static_url
from kith.social.instance.service import Numbers, Terms
from kith.social.instance.tables import InstancePage, Rule
from kith.social.moments import second

MASTODON_VERSION = "4.5.0"
API_VERSION = 7
VERSION = f"{MASTODON_VERSION} (compatible; Kith {__version__})"

LANGUAGES = ["en"]

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
            "audio/x-pn-wave", "audio/vnd.wave", "audio/ogg", "audio/vorbis", "audio/mpeg", "audio/mp3", "audio/webm",
            "audio/flac", "audio/aac", "audio/m4a", "audio/x-m4a", "audio/mp4", "audio/3gpp", "video/x-ms-asf",
        ],
        "description_limit": 10_000,
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


def v1(
    settings: Settings, numbers: Numbers, rules: list[Rule], contact: msgspec.Raw | None, signups: str
) -> dict[str, Any]:
    """`signups` is who may sign up now: `open`, `approval` or `closed`."""
    return {
        "uri": settings.domain,
        "title": settings.title,
        "short_description": settings.description,
        "description": settings.description,
        "email": settings.contact_email,
        "version": VERSION,
        "urls": {"streaming_api": _streaming(settings)},
        "stats": {"user_count": numbers.members, "status_count": numbers.said, "domain_count": numbers.domains},
        "thumbnail": static_url(settings, NO_HEADER),
        "languages": LANGUAGES,
        "registrations": signups != "closed",
        "approval_required": signups == "approval",
        "invites_enabled": False,
        "configuration": LIMITS,
        "contact_account": contact,
        "rules": [rule_shape(rule) for rule in rules],
    }


class Now(msgspec.Struct, frozen=True):
    """What there is these days: terms of service, a year that is summed up, and who may sign up."""

    has_terms: bool
    campaign: int | None
    signups: str = "open"


def v2(
    settings: Settings, numbers: Numbers, rules: list[Rule], contact: msgspec.Raw | None, vapid: str, now: Now
) -> dict[str, Any]:
    access = "authenticated" if settings.is_members_only else "public"
    feeds = {"local": access, "remote": access}
    return {
        "domain": settings.domain,
        "title": settings.title,
        "version": VERSION,
        "source_url": settings.source_url or f"{settings.base_url}/api/docs",
        "description": settings.description,
        "usage": {"users": {"active_month": numbers.active_month}},
        "thumbnail": {"url": static_url(settings, NO_HEADER), "blurhash": None, "versions": {}, "description": ""},
        "icon": [],
        "languages": LANGUAGES,
        "configuration": {
            "urls": _urls(settings, has_terms=now.has_terms),
            "vapid": {"public_key": vapid},
            **LIMITS,
            "translation": {"enabled": bool(settings.translator)},
            "timelines_access": {"live_feeds": feeds, "hashtag_feeds": feeds, "trending_link_feeds": feeds},
            "limited_federation": settings.is_allow_list,
        },
        "registrations": {
            "enabled": now.signups != "closed",
            "approval_required": now.signups == "approval",
            "reason_required": now.signups == "approval",
            "message": None,
            "min_age": settings.minimum_age or None,
            "url": None,
        },
        "api_versions": {"mastodon": API_VERSION},
        "contact": {"email": settings.contact_email, "account": contact},
        "rules": [rule_shape(rule) for rule in rules],
        "wrapstodon": None if now.campaign is None else str(now.campaign),
    }


def _urls(settings: Settings, *, has_terms: bool) -> dict[str, str | None]:
    at = settings.base_url
    return {
        "streaming": _streaming(settings),
        "status": f"{at}/health",
        "about": f"{at}/about",
        "privacy_policy": f"{at}/privacy-policy",
        "terms_of_service": f"{at}/terms-of-service" if has_terms else None,
    }


def _streaming(settings: Settings) -> str:
    """Where streams are, with the scheme of sockets."""
    at = settings.streaming_url or settings.base_url
    return "ws" + at.removeprefix("http").removeprefix("ws")


def rule_shape(rule: Rule) -> dict[str, Any]:
    return {"id": str(rule.id), "text": rule.text, "hint": rule.hint, "translations": {}}


def page_shape(page: InstancePage | None) -> dict[str, str | None]:
    """One that nobody has written is empty."""
    if page is None:
        return {"updated_at": None, "content": ""}
    return {"updated_at": second(page.updated_at), "content": page.text}


def terms_shape(terms: Terms) -> dict[str, Any]:
    return {
        "effective_date": terms.page.effective_date,
        "effective": terms.is_effective,
        "content": terms.page.text,
        "succeeded_by": terms.succeeded_by,
    }
