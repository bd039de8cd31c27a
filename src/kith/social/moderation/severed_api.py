"""Follows that were lost, for whoever lost them: what happened, and whom to look for again."""

from __future__ import annotations

import csv
import io

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, get
from kith.base.work import Work
from kith.social.accounts.viewers import Me
from kith.social.guards import user
from kith.social.ids import AccountId
from kith.social.moderation import store
from kith.social.moderation.entities import render_severances
from kith.social.moderation.tables import Severance
from kith.social.pages import PRIVATE, list_of

PATH = "/api/v1/severed_relationships"
LIMIT, MOST = 20, 40
SEE = user("read:follows", "follow")


@get(PATH, guards=[SEE])
async def show_severances(exchange: Exchange, work: Work, me: Me) -> Answer:
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    rows = await store.page_of_severances(work.db, me, cursor)
    shown = await render_severances(work, rows)
    return list_of(exchange, cursor, shown, [row.id for row in rows], kind=CursorKind.RECORD3)


async def _own(work: Work, id: int, me: AccountId) -> Severance:
    found = await store.severances_by_id(work.db, [id])
    if not found or found[0].account_id != me:
        raise NotFound
    return found[0]


@get(f"{PATH}/{{id}}/following.csv", guards=[SEE])
async def download_followed(work: Work, me: Me, id: FromPath[int]) -> Answer:
    """In the form in which people bring whom they follow to another server."""
    event = await _own(work, id, me)
    rows = [
        [one.acct, _word(one.reblogs), _word(one.notify), ", ".join(one.languages or [])]
        for one in await store.lost_in(work.db, event.id, following=True)
    ]
    heads = ["Account address", "Show boosts", "Notify on new posts", "Languages"]
    return _file(f"following-{event.target_name}", heads, rows)


@get(f"{PATH}/{{id}}/followers.csv", guards=[SEE])
async def download_followers(work: Work, me: Me, id: FromPath[int]) -> Answer:
    event = await _own(work, id, me)
    rows = [[one.acct] for one in await store.lost_in(work.db, event.id, following=False)]
    return _file(f"followers-{event.target_name}", ["Account address"], rows)


def _word(value: bool) -> str:
    return "true" if value else "false"


def _file(name: str, heads: list[str], rows: list[list[str]]) -> Answer:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([heads, *rows])
    safe = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "-._") else "_" for letter in name)
    headers = (
        (b"content-type", b"text/csv; charset=utf-8"),
        (b"content-disposition", f'attachment; filename="{safe}.csv"'.encode()),
        PRIVATE,
    )
    return Answer(200, headers, text.getvalue().encode())


routes = [show_severances, download_followed, download_followers]
