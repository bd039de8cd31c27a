"""Statuses as they are shown, declared once; and revisions, sources, scheduled ones, what is left of a deleted one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from kith.base.json_templates import gap
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.emojis import service as emojis
from kith.social.media import entities as media
from kith.social.media.tables import Media
from kith.social.moments import moment
from kith.social.statuses.tables import Edit, Scheduled, Status
from kith.social.text.html import shown

_encode = msgspec.json.Encoder().encode
_QUOTE_POLICIES = ("public", "followers", "nobody")


class StatusEntity(msgspec.Struct, kw_only=True):
    """Status. What the viewer has to do with it is told to members, `pinned` to its author alone."""

    id: str
    created_at: str
    edited_at: str | None
    in_reply_to_id: str | None
    in_reply_to_account_id: str | None
    sensitive: bool
    spoiler_text: str
    visibility: str
    language: str | None
    uri: str
    url: str | None
    content: str
    application: Any
    tagged_collections: list[Any]
    media_attachments: list[media.MediaAttachment]
    mentions: list[dict[str, str]]
    tags: list[dict[str, str]]
    emojis: list[dict[str, Any]]
    card: dict[str, Any] | None
    replies_count: int
    reblogs_count: int
    favourites_count: int
    quotes_count: int
    favourited: bool | UnsetType = UNSET
    reblogged: bool | UnsetType = UNSET
    muted: bool | UnsetType = UNSET
    bookmarked: bool | UnsetType = UNSET
    filtered: list[Any] | UnsetType = UNSET  # FilterResults
    pinned: bool | UnsetType = UNSET
    reblog: StatusEntity | None
    poll: Any
    quote: Any
    quote_approval: Any
    account: Any


COUNTS = ("replies_count", "reblogs_count", "favourites_count", "quotes_count")
# What depends on the viewer, and what it is for most.
UNMARKED = {
    "favourited": b"false",
    "reblogged": b"false",
    "muted": b"false",
    "bookmarked": b"false",
    "filtered": b"[]",
    "pinned": b"false",
}
# What is put into a status when it is shown: all but the status itself in one version.
GAPS: dict[str, Any] = {
    name: gap(name) for name in (*COUNTS, *UNMARKED, "reblog", "poll", "quote", "quote_approval", "account")
}


class Quote(msgspec.Struct):
    state: str
    quoted_status: Any


class ShallowQuote(msgspec.Struct):
    """A quote inside of what is quoted: only named."""

    state: str
    quoted_status_id: str | None


class QuoteApproval(msgspec.Struct):
    automatic: list[str]
    manual: list[str]
    current_user: str


async def revision(work: Work, edit: Edit, author: Account, account: bytes) -> bytes:
    """`account` is the author as they are shown."""
    rows = [msgspec.convert(one, Media, strict=False) for one in edit.media]
    told: dict[str, Any] = {
        "account": msgspec.Raw(account),
        "content": edit.content if author.is_local else shown(edit.content),
        "created_at": moment(edit.created_at),
        "emojis": await emojis.used_in(work, [edit.content, edit.spoiler_text], author.domain),
        "media_attachments": media.render_media(work.settings, rows),
        "sensitive": edit.sensitive,
        "spoiler_text": edit.spoiler_text,
    }
    if edit.poll_options is not None:
        told["poll"] = {"options": [{"title": title} for title in edit.poll_options]}
    if edit.quoted_id is not None:
        told["quote"] = {"state": "accepted", "quoted_status_id": str(edit.quoted_id)}
    return _encode(told)


def source(status: Status) -> dict[str, str]:
    return {"id": str(status.id), "text": status.text, "spoiler_text": status.spoiler_text}


def with_source(whole: bytes, status: Status) -> bytes:
    """The answer to a deletion: what was typed in place of what was shown, to be drafted again."""
    shown: dict[str, Any] = msgspec.json.decode(whole)
    shown.pop("content", None)
    return _encode(shown | {"text": status.text})


async def scheduled(work: Work, planned: Sequence[Scheduled]) -> list[dict[str, Any]]:
    attached = await media.render(work, [id for one in planned for id in one.media_ids])
    return [
        {
            "id": str(one.id),
            "scheduled_at": moment(one.scheduled_at),
            "params": _params(one),
            "media_attachments": [attached[id] for id in one.media_ids if id in attached],
        }
        for one in planned
    ]


def _params(one: Scheduled) -> dict[str, Any]:
    kept = one.params
    policy = kept.get("quote_approval_policy")
    quoted = kept.get("quoted_status_id")
    return {
        "text": kept.get("text", ""),
        "poll": kept.get("poll"),
        "media_ids": [str(id) for id in one.media_ids] or None,
        "sensitive": kept.get("sensitive"),
        "spoiler_text": kept.get("spoiler_text") or None,
        "visibility": kept.get("visibility"),
        "in_reply_to_id": kept.get("in_reply_to_id"),
        "language": kept.get("language"),
        "application_id": kept.get("application_id") or 0,
        "scheduled_at": None,
        "idempotency": None,  # the key was for the request, which is over
        "with_rate_limit": False,
        "allowed_mentions": [str(id) for id in kept["allowed_mentions"]] if kept.get("allowed_mentions") else None,
        "quoted_status_id": None if quoted is None else str(quoted),
        "quote_approval_policy": policy if policy in _QUOTE_POLICIES else "public",
    }
