"""What is shown of a status itself: made once per version, with gaps for its counts, its author and its viewer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from kith.base.caches import ByVersion
from kith.base.json_templates import Template
from kith.base.work import Work
from kith.social.addresses import tag_url
from kith.social.emojis import service as emojis
from kith.social.ids import AccountId, StatusId
from kith.social.media import entities as media
from kith.social.moments import maybe, moment
from kith.social.statuses import store
from kith.social.statuses.cards.entities import render_cards
from kith.social.statuses.shapes import GAPS, StatusEntity
from kith.social.statuses.tables import VISIBILITIES, Status
from kith.social.text.html import shown
from kith.social.versions import without_counts

MOST_BYTES = 16 << 20


class BodyKey(NamedTuple):
    """A status without its counts; the version of its author counts too, for what is told of where they live."""

    id: StatusId
    version: int
    author_version: int


class Body(msgspec.Struct, frozen=True, gc=False):
    """A status in one version: its JSON, with gaps, and what must be looked up to fill them."""

    template: Template
    account_id: AccountId
    conversation_id: int
    visibility: int
    poll_id: int | None
    quoted_id: StatusId | None
    quote_state: str | None
    quote_policy: str
    is_boost: bool


class StatusPieces(ByVersion[Body]):
    def __init__(self) -> None:
        super().__init__("status_pieces", MOST_BYTES)


def body_key(id: StatusId, version: int, author_version: int) -> BodyKey:
    return BodyKey(id, without_counts(version), without_counts(author_version))


async def bodies_of(work: Work, wanted: Sequence[BodyKey]) -> dict[StatusId, Body]:
    """What is shown of each of them at that version; what is not at hand is read."""
    kept = work.find(StatusPieces)
    found: dict[StatusId, Body] = {}
    missing: dict[StatusId, BodyKey] = {}
    for key in wanted:
        body = kept.get(key)
        if body is None:
            missing[key.id] = key
        else:
            found[key.id] = body
    if missing:
        rows = await store.find_all(work.db, list(missing))
        for body_id, body in (await _make(work, list(rows.values()))).items():
            found[body_id] = body
            if not work.db.is_writing:  # what is rolled back leaves its version to something else
                kept.put(missing[body_id], body, body.template.size)
    return found


async def _make(work: Work, rows: Sequence[Status]) -> dict[StatusId, Body]:
    attached = await media.render(work, [id for row in rows for id in row.media_ids])
    named = await store.mentions_of(work.db, [row.id for row in rows])
    cards = await render_cards(work, [row.card_id for row in rows if row.card_id is not None])
    domains = await store.domains_of(work.db, [row.account_id for row in rows])
    places = [domains.get(row.account_id, ("", False)) for row in rows]
    used = await emojis.used_in_each(
        work, [((row.content, row.spoiler_text), domain) for row, (domain, _) in zip(rows, places, strict=True)]
    )
    made: dict[StatusId, Body] = {}
    for row, (_, sensitized), told in zip(rows, places, used, strict=True):
        shape = StatusEntity(
            **_own(row, sensitized=sensitized),
            media_attachments=[attached[id] for id in row.media_ids if id in attached],
            mentions=[_mention(one) for one in named.get(row.id, [])],
            tags=[{"name": name, "url": tag_url(work.settings, name)} for name in row.tag_names],
            emojis=told,
            card=cards.get(row.card_id or 0),
            **GAPS,
        )
        made[row.id] = Body(
            template=Template.of(shape),
            account_id=row.account_id,
            conversation_id=row.conversation_id,
            visibility=row.visibility,
            poll_id=row.poll_id,
            quoted_id=row.quoted_id,
            quote_state=row.quote_state,
            quote_policy=row.quote_policy,
            is_boost=row.reblog_of_id is not None,
        )
    return made


def _own(row: Status, *, sensitized: bool) -> dict[str, Any]:
    """What the row alone tells."""
    visibility = VISIBILITIES[row.visibility]
    return {
        "id": str(row.id),
        "created_at": moment(row.created_at),
        "edited_at": maybe(row.edited_at),
        "in_reply_to_id": _id(row.in_reply_to_id),
        "in_reply_to_account_id": _id(row.in_reply_to_account_id),
        "sensitive": row.sensitive or (sensitized and bool(row.media_ids)),
        "spoiler_text": row.spoiler_text,
        "visibility": "private" if visibility == "limited" else visibility,
        "language": row.language,
        "uri": row.uri,
        "url": row.url,
        "content": row.content if row.local else shown(row.content),
        "application": row.application,
        "tagged_collections": [],
    }


def _id(id: int | None) -> str | None:
    return str(id) if id else None  # what is not known here has no id to be told


def _mention(one: tuple[int, str, str, str]) -> dict[str, str]:
    id, username, domain, url = one
    return {"id": str(id), "username": username, "url": url, "acct": f"{username}@{domain}" if domain else username}
