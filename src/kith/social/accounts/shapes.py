"""Accounts as they are shown: the one declaration of each shape, and what fills it."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from kith.base.json_templates import gap
from kith.base.settings import Settings
from kith.social.accounts.tables import Account, AccountCounts, Preferences
from kith.social.addresses import NO_AVATAR, NO_HEADER, file_url, static_url
from kith.social.moments import day_of, moment
from kith.social.text.html import shown

# Who is shown with a badge, and what may be told of every role. Permissions are a bit field, as clients read it.
_BADGES = {"owner": "Owner", "administrator": "Admin", "moderator": "Moderator"}
_ROLE_IDS = {"owner": "3", "administrator": "2", "moderator": "1"}
_PERMISSIONS = {"owner": "2097151", "administrator": "2097151", "moderator": "1308"}
EVERYONE = "65536"


class AccountEntity(msgspec.Struct, kw_only=True):
    """Account. `noindex` and `roles` are told of people who live here; the last ones only where they are so."""

    id: str
    username: str
    acct: str
    url: str
    uri: str
    display_name: str
    note: str
    avatar: str
    avatar_static: str
    avatar_description: str
    header: str
    header_static: str
    header_description: str
    locked: bool
    fields: list[dict[str, Any]]
    emojis: list[dict[str, Any]]
    bot: bool
    group: bool
    discoverable: bool | None
    indexable: bool
    created_at: str
    hide_collections: bool | None
    feature_approval: dict[str, Any]
    show_media: bool
    show_media_replies: bool
    show_featured: bool
    statuses_count: int
    followers_count: int
    following_count: int
    last_status_at: str | None
    noindex: bool | UnsetType = UNSET
    roles: list[dict[str, str]] | UnsetType = UNSET
    suspended: bool | UnsetType = UNSET
    limited: bool | UnsetType = UNSET
    memorial: bool | UnsetType = UNSET
    moved: AccountEntity | UnsetType = UNSET


# What changes all day, and is left open in what is kept.
COUNTS = ("statuses_count", "followers_count", "following_count", "last_status_at")


def account_entity(
    settings: Settings, row: Account, used: list[dict[str, Any]], roles: list[dict[str, str]]
) -> AccountEntity:
    """With gaps for the counts; `used` are the emoji in its texts, `roles` those that everybody sees."""
    gone = row.is_gone
    shape = AccountEntity(
        id=str(row.id),
        username=row.username,
        acct=row.acct,
        url=row.url or row.uri,
        uri=row.uri,
        display_name="" if gone else row.display_name,
        note="" if gone else _shown_html(row, row.note_html),
        **_pictures(settings, row, gone=gone),
        locked=row.locked and not gone,
        fields=[] if gone else [_field_of(row, field) for field in row.fields],
        emojis=used,
        bot=row.actor_type in ("Service", "Application"),
        group=row.actor_type == "Group",
        discoverable=False if gone else row.discoverable,
        indexable=row.indexable and not gone,
        created_at=moment(row.created_at.replace(hour=0, minute=0, second=0, microsecond=0)),
        hide_collections=row.hide_collections,
        feature_approval=_feature_approval(row),
        show_media=row.show_media,
        show_media_replies=row.show_media_replies,
        show_featured=row.show_featured,
        **{name: gap(name) for name in COUNTS},
    )
    if row.is_local:
        shape.noindex, shape.roles = row.noindex, roles
    if gone:
        shape.suspended = True
    if row.silenced_at is not None:
        shape.limited = True
    if row.memorial:
        shape.memorial = True
    return shape


def set_counts(shape: AccountEntity, row: Account) -> AccountEntity:
    """The same without gaps."""
    shape.statuses_count, shape.followers_count = row.statuses_count, row.followers_count
    shape.following_count, shape.last_status_at = row.following_count, day_of(row.last_status_at)
    return shape


def counts_of(row: Account | AccountCounts) -> dict[str, bytes]:
    """What goes into the gaps."""
    day = day_of(row.last_status_at)
    return {
        "statuses_count": b"%d" % row.statuses_count,
        "followers_count": b"%d" % row.followers_count,
        "following_count": b"%d" % row.following_count,
        "last_status_at": b"null" if day is None else b'"%b"' % day.encode(),
    }


def texts_of(row: Account) -> list[str]:
    """Where emoji may be."""
    if row.is_gone:
        return []
    fields = [part for field in row.fields for part in (field["name"], field.get("html", field["value"]))]
    return [row.display_name, row.note_html, *fields]


def avatar_url(settings: Settings, row: Account) -> str:
    is_shown = row.avatar and not (row.is_gone or row.pictures_rejected)
    return file_url(settings, row.avatar) if is_shown else static_url(settings, NO_AVATAR)


def _pictures(settings: Settings, row: Account, *, gone: bool) -> dict[str, Any]:
    gone = gone or row.pictures_rejected
    avatar = avatar_url(settings, row)
    header = file_url(settings, row.header) if row.header and not gone else static_url(settings, NO_HEADER)
    still = file_url(settings, row.avatar_static) if row.avatar_static and not gone else avatar
    still_header = file_url(settings, row.header_static) if row.header_static and not gone else header
    return {
        "avatar": avatar,
        "avatar_static": still,
        "avatar_description": "" if gone else row.avatar_description,
        "header": header,
        "header_static": still_header,
        "header_description": "" if gone else row.header_description,
    }


def _feature_approval(row: Account) -> dict[str, Any]:
    is_open = bool(row.discoverable)
    return {
        "automatic": ["public"] if is_open else [],
        "manual": [],
        "current_user": "automatic" if is_open else "denied",
    }


def _shown_html(row: Account, html: str) -> str:
    """The HTML to show of an account: that of others was cleaned when it was stored, and is looked through again."""
    return html if row.is_local or not html else shown(html)


def _field_of(row: Account, field: dict[str, Any]) -> dict[str, Any]:
    told = shown_field(field)
    return told if row.is_local else told | {"value": _shown_html(row, told["value"])}


def shown_field(field: dict[str, Any]) -> dict[str, Any]:
    return {"name": field["name"], "value": field.get("html", field["value"]), "verified_at": field.get("verified_at")}


def raw_field(field: dict[str, Any]) -> dict[str, Any]:
    return {"name": field["name"], "value": field["value"], "verified_at": field.get("verified_at")}


class OwnPart(msgspec.Struct):
    """What CredentialAccount has beyond Account."""

    source: dict[str, Any]
    role: dict[str, Any]


def own_part(account: Account, kept: Preferences, role: dict[str, Any], *, requests: int) -> OwnPart:
    source = {
        "note": account.note,
        "fields": [raw_field(field) for field in account.fields],
        "privacy": kept.privacy or ("private" if account.locked else "public"),
        "sensitive": kept.sensitive,
        "language": kept.language,
        "follow_requests_count": requests,
        "hide_collections": account.hide_collections,
        "discoverable": account.discoverable,
        "indexable": account.indexable,
        "attribution_domains": account.attribution_domains,
        "quote_policy": kept.quote_policy,
        "also_known_as_uris": account.also_known_as,
    }
    return OwnPart(source, role)


class MutedPart(msgspec.Struct):
    """What MutedAccount has beyond Account."""

    mute_expires_at: str | None
