"""Statuses one by one, what stands around them, and who had to do with them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

import msgspec

from kith.base.errors import NotFound, Unprocessable
from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromQuery, get
from kith.base.work import Work
from kith.social.accounts import entities as account_entities
from kith.social.accounts import store as accounts
from kith.social.accounts.viewers import Me, Viewer
from kith.social.guards import optional, user
from kith.social.ids import AccountId, StatusId
from kith.social.pages import answer, joined, numbers, page
from kith.social.statuses import entities, lists, shapes, store, threads
from kith.social.statuses.api.common import ANYBODY, encode, visible
from kith.social.statuses.cards.entities import render_cards
from kith.social.statuses.remote_posts import RemotePosts, header_value
from kith.social.statuses.service import marks
from kith.social.statuses.service.revisions import snapshot
from kith.social.statuses.tables import Status

MOST_IDS = 20
CONTEXT_BYTES = 4 << 20  # above a post, as much below it, and of its versions
CONTEXT_PART = 10  # posts of it that are made at once


class StatusIds(msgspec.Struct, kw_only=True):
    id: list[str] = []


@get("/api/v1/statuses", guards=[ANYBODY])
async def show_statuses(exchange: Exchange, work: Work, viewer: Viewer, asked: FromQuery[StatusIds]) -> Answer:
    if len(asked.id) > MOST_IDS:
        raise Unprocessable(f"No more than {MOST_IDS} posts can be asked for at once")
    return answer(exchange, joined(await entities.render_ids(work, numbers(asked.id), viewer)))


@get("/api/v1/statuses/{id}", guards=[ANYBODY])
async def show_status(exchange: Exchange, work: Work, viewer: Viewer, id: FromPath[StatusId]) -> Answer:
    shown = await entities.render_ids(work, [id], viewer)
    if not shown:
        raise NotFound
    return answer(exchange, shown[0])


@get("/api/v1/statuses/{id}/context", guards=[ANYBODY])
async def show_context(exchange: Exchange, work: Work, viewer: Viewer, id: FromPath[StatusId]) -> Answer:
    status = await visible(work, id, viewer)
    above, below = await threads.ancestors(work, status, viewer), await threads.descendants(work, status, viewer)
    nearest_first = await _shown_within(work, above[::-1], viewer)
    body = b'{"ancestors":%b,"descendants":%b}' % (
        joined(nearest_first[::-1]),
        joined(await _shown_within(work, below, viewer)),
    )
    return answer(exchange, body, headers=await _refresh(work, status, viewer))


async def _shown_within(work: Work, ids: Sequence[StatusId], viewer: AccountId | None) -> list[bytes]:
    """The first of them, as many as have room in one answer. Others are served between two parts of it."""
    shown: list[bytes] = []
    room = CONTEXT_BYTES
    for start in range(0, len(ids), CONTEXT_PART):
        part = ids[start : start + CONTEXT_PART]
        found = await entities.render_by_id(work, part, viewer)
        for one in part:
            piece = found.get(one, b"")
            room -= len(piece)
            if room < 0:
                return shown
            shown += [piece] if piece else []
        await asyncio.sleep(0)
    return shown


async def _refresh(work: Work, status: Status, me: AccountId | None) -> tuple[tuple[bytes, bytes], ...]:
    """Where the answers to a post from elsewhere are being looked up, whoever looks is told when to look again."""
    remote = work.find(RemotePosts)  # type: ignore[type-abstract]
    if me is None or status.local or not await remote.complete_thread(work, status):
        return ()
    return ((b"mastodon-async-refresh", header_value(me, status.id)),)


@get("/api/v1/statuses/{id}/history", guards=[ANYBODY])
async def show_history(exchange: Exchange, work: Work, viewer: Viewer, id: FromPath[StatusId]) -> Answer:
    """Oldest first; one that was never edited has itself alone. Of many long ones the first and the newest."""
    status = await visible(work, id, viewer)
    author = await accounts.find(work.db, status.account_id)
    if author is None:
        raise NotFound
    [shown] = await account_entities.render(work, [author])
    first = await store.first_edit(work.db, status.id) or await snapshot(work, status)
    oldest = await shapes.revision(work, first, author, shown)
    newest: list[bytes] = []
    room, before = CONTEXT_BYTES - len(oldest), sys.maxsize
    while room > 0:
        part = await store.edits_before(work.db, status.id, before, CONTEXT_PART)
        for edit in part:
            made = b"" if edit.id == first.id else await shapes.revision(work, edit, author, shown)
            room -= len(made)
            newest += [made] if made and room >= 0 else []
        if len(part) < CONTEXT_PART:
            break
        before = part[-1].id
        await asyncio.sleep(0)
    return answer(exchange, joined([oldest, *reversed(newest)]))


@get("/api/v1/statuses/{id}/source", guards=[user("read:statuses")])
async def show_source(work: Work, me: Me, id: FromPath[StatusId]) -> dict[str, str]:
    return shapes.source(await visible(work, id, me))


@get("/api/v1/statuses/{id}/card", guards=[ANYBODY])
async def show_card(exchange: Exchange, work: Work, viewer: Viewer, id: FromPath[StatusId]) -> Answer:
    status = await visible(work, id, viewer)
    found = await render_cards(work, [status.card_id]) if status.card_id is not None else {}
    return answer(exchange, encode(next(iter(found.values()), {})))


@get("/api/v1/statuses/{id}/reblogged_by", guards=[optional("read:accounts")])
async def show_reblogged_by(exchange: Exchange, work: Work, viewer: Viewer, id: FromPath[StatusId]) -> Answer:
    return await _who(exchange, work, viewer, id, lists.reblogged_by)


@get("/api/v1/statuses/{id}/favourited_by", guards=[optional("read:accounts")])
async def show_favourited_by(exchange: Exchange, work: Work, viewer: Viewer, id: FromPath[StatusId]) -> Answer:
    return await _who(exchange, work, viewer, id, lists.favourited_by)


async def _who(exchange: Exchange, work: Work, viewer: AccountId | None, id: StatusId, found: lists.Reader) -> Answer:
    status = await marks.visible(work, viewer, id)
    cursor = Cursor.read(exchange.query_string, default=40, most=80, kind=CursorKind.RECORD)
    rows = await found(work, status.id, viewer, cursor)
    known = await accounts.find_all(work.db, [row.account_id for row in rows])
    people = [known[row.account_id] for row in rows if row.account_id in known]
    shown = await account_entities.render(work, people)
    return page(exchange, cursor, shown, [row.id for row in rows], kind=CursorKind.RECORD)


routes = [
    show_statuses,
    show_status,
    show_context,
    show_history,
    show_source,
    show_card,
    show_reblogged_by,
    show_favourited_by,
]
