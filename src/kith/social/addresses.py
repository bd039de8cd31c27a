"""Where things are: the addresses that others know our people, posts, tags and files by."""

from __future__ import annotations

from urllib.parse import quote

from kith.base.settings import Settings
from kith.social.ids import StatusId

NO_AVATAR = "avatars/original/missing.png"
NO_HEADER = "headers/original/missing.png"


def actor_uri(settings: Settings, username: str) -> str:
    return f"{settings.base_url}/users/{username}"


def profile_url(settings: Settings, username: str) -> str:
    return f"{settings.base_url}/@{username}"


def status_uri(author: str, status_id: StatusId) -> str:
    """`author` is the address of whoever wrote it, which may be another than new people get (`/ap/users/ID`)."""
    return f"{author}/statuses/{status_id}"


def boost_uri(booster: str, status_id: StatusId) -> str:
    return f"{booster}/statuses/{status_id}/activity"


def status_url(settings: Settings, username: str, status_id: StatusId) -> str:
    return f"{settings.base_url}/@{username}/{status_id}"


def tag_url(settings: Settings, name: str) -> str:
    return f"{settings.base_url}/tags/{quote(name, safe='')}"


def file_url(settings: Settings, key: str) -> str:
    """The address of a stored file; one that is kept elsewhere is known by its address already."""
    if key.startswith(("http://", "https://")):
        return key
    return f"{settings.media_url}/{key}" if settings.media_url else f"{settings.base_url}/media/{key}"


def static_url(settings: Settings, name: str) -> str:
    return f"{settings.base_url}/{name}"
