"""The routes that only look: what there is between people, and lists of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec

from kith.base.caches import UntilWritten
from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromQuery, get
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.entities import render_lines, render_muted
from kith.social.accounts.lines import AccountRow, CursorRow
from kith.social.accounts.viewers import Me, Viewer
from kith.social.guards import optional, user
from kith.social.ids import AccountId
from kith.social.pages import answer, fill, joined, numbers, page, shortened
from kith.social.relationships import entities, lists
from kith.social.relationships.mute_ends import next_end_of_mute
from kith.social.relationships.service.common import target

LIMIT, MOST = 40, 80
DOMAINS, MOST_DOMAINS = 100, 200
MOST_IDS = 500
ID_BYTES = 48
MOST_FAMILIAR = 40
EVERYBODY = 10_000  # more than most may follow; how many of them are shown is a matter of their size
AT_ONCE = 100
MOST_SHOWN_FAMILIAR = 160  # for all who are asked about together, once there are several
_encode = msgspec.json.Encoder().encode


class RelationshipQuery(msgspec.Struct, kw_only=True):
    id: list[str] = []
    with_suspended: bool = False


def _cursor(exchange: Exchange, limit: int = LIMIT, most: int = MOST) -> Cursor:
    return Cursor.read(exchange.query_string, default=limit, most=most, kind=CursorKind.RECORD)


async def _people(exchange: Exchange, work: Work, cursor: Cursor, rows: list[CursorRow]) -> Answer:
    there, shown = await fill(rows, partial(render_lines, work), at_once=AT_ONCE)
    if len(there) < len(rows):
        cursor = shortened(cursor, len(there))
    return page(exchange, cursor, shown, [row.cursor for row in there], kind=CursorKind.RECORD)


def _account_ids(asked: RelationshipQuery) -> list[AccountId]:
    return [AccountId(id) for id in numbers(asked.id)]


@get("/api/v1/accounts/relationships", guards=[user("read:follows")])
async def show_relationships(exchange: Exchange, work: Work, me: Me, asked: FromQuery[RelationshipQuery]) -> Answer:
    ids = _account_ids(asked)[:MOST_IDS]

    async def make() -> bytes:
        return joined(await entities.render(work, me, ids, with_suspended=asked.with_suspended))

    key = ("relationships", me, tuple(ids), asked.with_suspended, await next_end_of_mute(work, me))
    return answer(exchange, await work.find(UntilWritten).keep(key, make, more=ID_BYTES * len(ids)))


@get("/api/v1/accounts/familiar_followers", guards=[user("read:follows")])
async def show_familiar_followers(
    exchange: Exchange, work: Work, me: Me, asked: FromQuery[RelationshipQuery]
) -> Answer:
    """Nobody where followers are not shown; those who are not there are left out.

    Whoever asks about several at once is told fewer of each.
    """
    ids = _account_ids(asked)[:MOST_FAMILIAR]
    known = {id: one for id, one in (await accounts.find_all(work.db, ids)).items() if one.is_listed}
    open_ones = [one.id for one in known.values() if not one.is_gone and not one.hide_collections]
    found = await lists.familiar(work, me, open_ones, most=_most_familiar(len(ids)))
    shown = dict(found_and_shown(found, await render_lines(work, [row for rows in found.values() for row in rows])))
    told = [b'{"id":"%d","accounts":%b}' % (id, joined(shown.get(id, []))) for id in ids if id in known]
    return answer(exchange, joined(told))


def _most_familiar(ids: int) -> int:
    return lists.MOST_FAMILIAR if ids < 2 else max(2, min(MOST_SHOWN_FAMILIAR // ids, MOST_FAMILIAR))


def found_and_shown(found: dict[int, list[AccountRow]], shown: list[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """What was rendered all at once, back under the ids it was found for."""
    place = 0
    for id, rows in found.items():
        yield id, shown[place : place + len(rows)]
        place += len(rows)


@get("/api/v1/accounts/{id}/followers", guards=[optional("read:accounts")])
async def show_followers(exchange: Exchange, work: Work, viewer: Viewer, id: FromPath[AccountId]) -> Answer:
    me, owner, cursor = viewer, await target(work, id), _cursor(exchange)
    return await _people(exchange, work, cursor, await lists.followers(work, owner, cursor, me))


@get("/api/v1/accounts/{id}/following", guards=[optional("read:accounts")])
async def show_following(exchange: Exchange, work: Work, viewer: Viewer, id: FromPath[AccountId]) -> Answer:
    me, owner, cursor = viewer, await target(work, id), _cursor(exchange)
    return await _people(exchange, work, cursor, await lists.following(work, owner, cursor, me))


@get("/api/v1/accounts/{id}/endorsements", guards=[optional("read:accounts")])
async def show_endorsed_by(exchange: Exchange, work: Work, viewer: Viewer, id: FromPath[AccountId]) -> Answer:
    me, owner, cursor = viewer, await target(work, id), _cursor(exchange)
    return await _people(exchange, work, cursor, await lists.endorsed(work, owner, cursor, me))


@get("/api/v1/endorsements", guards=[user("read:accounts")])
async def show_endorsements(exchange: Exchange, work: Work, me: Me) -> Answer:
    """With a limit of nought, all of them."""
    owner, cursor = await target(work, me), _cursor(exchange)
    if exchange.query("limit") == "0":
        cursor = msgspec.structs.replace(cursor, limit=EVERYBODY)
    return await _people(exchange, work, cursor, await lists.endorsed(work, owner, cursor, owner.id))


@get("/api/v1/follow_requests", guards=[user("read:follows")])
async def show_requests(exchange: Exchange, work: Work, me: Me) -> Answer:
    cursor = _cursor(exchange)
    return await _people(exchange, work, cursor, await lists.asking(work, me, cursor))


@get("/api/v1/blocks", guards=[user("read:blocks")])
async def show_blocks(exchange: Exchange, work: Work, me: Me) -> Answer:
    cursor = _cursor(exchange)
    return await _people(exchange, work, cursor, await lists.blocked(work, me, cursor))


@get("/api/v1/mutes", guards=[user("read:mutes")])
async def show_mutes(exchange: Exchange, work: Work, me: Me) -> Answer:
    cursor = _cursor(exchange)
    rows = await lists.muted(work, me, cursor)
    people = await render_lines(work, rows)
    shown = [render_muted(one, row.expires_at) for one, row in zip(people, rows, strict=True)]
    return page(exchange, cursor, shown, [row.cursor for row in rows], kind=CursorKind.RECORD)


@get("/api/v1/domain_blocks", guards=[user("read:blocks")])
async def show_domain_blocks(exchange: Exchange, work: Work, me: Me) -> Answer:
    cursor = _cursor(exchange, DOMAINS, MOST_DOMAINS)
    rows = await lists.domains(work, me, cursor)
    shown = [_encode(row.domain) for row in rows]
    return page(exchange, cursor, shown, [row.id for row in rows], kind=CursorKind.RECORD)


routes = [
    show_relationships,
    show_familiar_followers,
    show_followers,
    show_following,
    show_endorsed_by,
    show_endorsements,
    show_requests,
    show_blocks,
    show_mutes,
    show_domain_blocks,
]
