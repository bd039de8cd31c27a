"""Accounts on the wire. What is shown of one is made once per version; the counts are put in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from kith.base.caches import ByVersion
from kith.base.settings import Settings
from kith.base.work import Work
from kith.social.accounts import store
from kith.social.accounts.tables import Account, Preferences
from kith.social.addresses import NO_AVATAR, NO_HEADER, file_url, static_url
from kith.social.emojis import service as emojis
from kith.social.ids import AccountId
from kith.social.moments import day_of, maybe, moment
from kith.social.roles import store as role_store
from kith.social.roles.entities import badges, render_role
from kith.social.versions import without_counts

MOST_BYTES = 8 << 20
_encode = msgspec.json.Encoder().encode

Counts = tuple[int, int, int, datetime | str | None]


class AccountPieces(ByVersion[bytes]):
    """Accounts as they are shown, by id and version, without their counts."""

    def __init__(self) -> None:
        super().__init__("account_pieces", MOST_BYTES)


def splice(piece: bytes, statuses: int, followers: int, following: int, last: datetime | str | None) -> bytes:
    """An account, whole: `piece` is open at its end."""
    day = day_of(last)
    return b'%b,"statuses_count":%d,"followers_count":%d,"following_count":%d,"last_status_at":%b}' % (
        piece, statuses, followers, following, b"null" if day is None else b'"%b"' % day.encode(),
    )  # fmt: skip


async def render(work: Work, accounts: Sequence[Account]) -> list[bytes]:
    """Each as JSON, in the order they came."""
    pieces = await pieces_of(work, {account.id: account.version for account in accounts}, known=accounts)
    return [
        splice(pieces[one.id], one.statuses_count, one.followers_count, one.following_count, one.last_status_at)
        for one in accounts
    ]


async def render_lines(work: Work, rows: Sequence[Sequence[Any]]) -> list[bytes]:
    """Rows that begin as a line does (`accounts.lines`), each as JSON, in the order they came."""
    pieces = await pieces_of(work, {row[0]: row[1] for row in rows})
    return [splice(pieces[row[0]], row[2], row[3], row[4], row[5]) for row in rows]


async def pieces_of(
    work: Work, versions: dict[AccountId, int], *, known: Sequence[Account] = ()
) -> dict[AccountId, bytes]:
    """What is shown of each of them at that version; what is not at hand is read, in one query."""
    kept = work.find(AccountPieces)
    found: dict[AccountId, bytes] = {}
    missing: list[AccountId] = []
    for id, version in versions.items():
        piece = kept.get((id, without_counts(version)))
        if piece is None:
            missing.append(id)
        else:
            found[id] = piece
    if missing:
        rows = {account.id: account for account in known}
        rows |= await store.find_all(work.db, [id for id in missing if id not in rows])
        found |= await _make(work, kept, [rows[id] for id in missing if id in rows])
    return found


def is_kept(work: Work, id: AccountId, version: int) -> bool:
    """Whether what was made of it holds as long as its version does."""
    return work.find(AccountPieces).get((id, without_counts(version))) is not None


async def _make(work: Work, kept: AccountPieces, rows: Sequence[Account]) -> dict[AccountId, bytes]:
    moved = await store.find_all(work.db, [row.moved_to for row in rows if row.moved_to is not None])
    shapes = await _shapes(work, {row.id: row for row in (*rows, *moved.values())})
    made: dict[AccountId, bytes] = {}
    for row in rows:
        shape = shapes[row.id]
        target = moved.get(row.moved_to) if row.moved_to is not None else None
        if target is None:
            made[row.id] = _encode(shape)[:-1]
            kept.put((row.id, without_counts(row.version)), made[row.id], len(made[row.id]))
        else:  # where somebody has gone is shown as it is now, so it is made anew each time
            made[row.id] = _encode(shape | {"moved": shapes[target.id] | _counts(target)})[:-1]
    return made


def _counts(row: Account) -> dict[str, Any]:
    return {
        "statuses_count": row.statuses_count,
        "followers_count": row.followers_count,
        "following_count": row.following_count,
        "last_status_at": day_of(row.last_status_at),
    }


async def _shapes(work: Work, rows: Mapping[AccountId, Account]) -> dict[AccountId, dict[str, Any]]:
    told = await emojis.used_in_each(work, [(_texts(row), row.domain) for row in rows.values()])
    shown = await _badges(work, rows.values())
    return {
        row.id: _shape(work.settings, row, used, shown.get(row.id, []))
        for row, used in zip(rows.values(), told, strict=True)
    }


async def _badges(work: Work, rows: Iterable[Account]) -> dict[AccountId, list[dict[str, str]]]:
    """Most people have no role that could be shown."""
    with_role = [row for row in rows if row.is_local and not row.is_gone and (row.role_id or row.role != "user")]
    if not with_role:
        return {}
    roles = await role_store.load(work.db)
    return {row.id: badges(roles, row.role, row.role_id) for row in with_role}


def _texts(row: Account) -> list[str]:
    """Where emoji may be."""
    if row.is_gone:
        return []
    fields = [part for field in row.fields for part in (field["name"], field.get("html", field["value"]))]
    return [row.display_name, row.note_html, *fields]


def _shape(settings: Settings, row: Account, used: list[dict[str, Any]], roles: list[dict[str, str]]) -> dict[str, Any]:
    gone = row.is_gone
    shape: dict[str, Any] = {
        "id": str(row.id),
        "username": row.username,
        "acct": row.acct,
        "url": row.url or row.uri,
        "uri": row.uri,
        "display_name": "" if gone else row.display_name,
        "note": "" if gone else row.note_html,
        **_pictures(settings, row, gone=gone),
        "locked": row.locked and not gone,
        "fields": [] if gone else [_field(field) for field in row.fields],
        "emojis": used,
        "bot": row.actor_type in ("Service", "Application"),
        "group": row.actor_type == "Group",
        "discoverable": False if gone else row.discoverable,
        "indexable": row.indexable and not gone,
        "created_at": moment(row.created_at.replace(hour=0, minute=0, second=0, microsecond=0)),
        "hide_collections": row.hide_collections,
        "feature_approval": {"automatic": ["public"] if row.discoverable else [], "manual": [],
                             "current_user": "automatic" if row.discoverable else "denied"},
        "show_media": row.show_media,
        "show_media_replies": row.show_media_replies,
        "show_featured": row.show_featured,
    }  # fmt: skip
    if row.is_local:
        shape |= {"noindex": row.noindex, "roles": roles}
    flags = {"suspended": gone, "limited": row.silenced_at is not None, "memorial": row.memorial}
    return shape | {name: True for name, is_set in flags.items() if is_set}


def avatar_url(settings: Settings, row: Account) -> str:
    return file_url(settings, row.avatar) if row.avatar and not row.is_gone else static_url(settings, NO_AVATAR)


def _pictures(settings: Settings, row: Account, *, gone: bool) -> dict[str, str]:
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


def _field(field: dict[str, Any]) -> dict[str, Any]:
    return {"name": field["name"], "value": field.get("html", field["value"]), "verified_at": field.get("verified_at")}


def raw_field(field: dict[str, Any]) -> dict[str, Any]:
    return {"name": field["name"], "value": field["value"], "verified_at": field.get("verified_at")}


async def render_own(work: Work, account: Account, kept: Preferences, *, requests: int) -> bytes:
    """CredentialAccount: one's own, with what can be edited."""
    [whole] = await render(work, [account])
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
    }
    return b'%b,"source":%b,"role":%b}' % (whole[:-1], _encode(source), _encode(await role_of(work, account)))


async def role_of(work: Work, account: Account) -> dict[str, Any]:
    return render_role((await role_store.load(work.db)).of(account.role, account.role_id))


async def render_profile(work: Work, account: Account, featured_tags: list[dict[str, Any]]) -> dict[str, Any]:
    """Profile: the editing view of one's own account."""
    settings = work.settings
    return {
        "id": str(account.id),
        "display_name": account.display_name,
        "note": account.note,
        "formatted_note": account.note_html,
        "fields": [raw_field(field) for field in account.fields],
        "formatted_fields": [_field(field) for field in account.fields],
        "avatar": file_url(settings, account.avatar) if account.avatar else None,
        "avatar_static": file_url(settings, account.avatar_static) if account.avatar_static else None,
        "avatar_description": account.avatar_description,
        "header": file_url(settings, account.header) if account.header else None,
        "header_static": file_url(settings, account.header_static) if account.header_static else None,
        "header_description": account.header_description,
        "locked": account.locked,
        "bot": account.actor_type in ("Service", "Application"),
        "hide_collections": account.hide_collections,
        "discoverable": account.discoverable,
        "indexable": account.indexable,
        "show_media": account.show_media,
        "show_media_replies": account.show_media_replies,
        "show_featured": account.show_featured,
        "attribution_domains": account.attribution_domains,
        "featured_tags": featured_tags,
    }


def render_muted(whole: bytes, until: datetime | str | None) -> bytes:
    """MutedAccount; `until` as a row or a row for the wire has it."""
    told = f"{until[:23]}Z" if isinstance(until, str) else maybe(until)
    return b'%b,"mute_expires_at":%b}' % (whole[:-1], _encode(told))
