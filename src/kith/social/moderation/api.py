from __future__ import annotations

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromRequest, get, number, post
from kith.base.work import Work
from kith.social.accounts.viewers import Actor, Me
from kith.social.guards import anyone, user
from kith.social.ids import AccountId
from kith.social.moderation import appeals, reports, store
from kith.social.moderation.appeal_keys import is_appeal_key
from kith.social.moderation.entities import render_reports, render_warnings
from kith.social.moderation.tables import Strike
from kith.social.pages import answer, list_of

LIMIT, MOST = 20, 40
APPEALS = LimitRule("appeals", most=20, seconds=3600)
REPORTS = LimitRule("reports", most=400, seconds=86_400)


class NewReport(msgspec.Struct, kw_only=True):
    account_id: str
    status_ids: list[str] = []
    collection_ids: list[str] = []
    comment: str = ""
    forward: bool = False
    forward_to_domains: list[str] = []
    category: str = "other"
    rule_ids: list[str] = []


@post("/api/v1/reports", guards=[user("write:reports")])
async def create_report(exchange: Exchange, work: Work, actor: Actor, new: FromRequest[NewReport]) -> Answer:
    """Tell the team of somebody."""
    await exchange.find(Limiter).spend_strictly(REPORTS, str(actor.user_id))
    draft = reports.ReportDraft(
        target_id=AccountId(number(new.account_id)),
        status_ids=[number(id) for id in new.status_ids],
        collection_ids=[number(id) for id in new.collection_ids],
        comment=new.comment,
        forward=new.forward,
        forward_to_domains=new.forward_to_domains,
        category=new.category,
        rule_ids=new.rule_ids,
    )
    [shown] = await render_reports(work, [await reports.create(work, actor, draft)])
    return answer(exchange, shown)


@get("/api/v1/reports", guards=[user("read:reports", "read")])
async def show_reports(exchange: Exchange, work: Work, me: Me) -> Answer:
    """One's own."""
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    rows = await store.page_of_reports(work.db, cursor, account=me)
    return list_of(
        exchange, cursor, await render_reports(work, rows), [row.id for row in rows], kind=CursorKind.RECORD3
    )


class Said(msgspec.Struct, kw_only=True):
    text: str


class WithKey(Said, kw_only=True):
    strike_id: str
    key: str


async def _strike(work: Work, id: int, me: AccountId | None = None) -> Strike:
    found = await store.find_strike(work.db, id)
    if found is None or me not in (None, found.target_id):
        raise NotFound
    return found


@get("/api/v1/strikes", guards=[user("read:accounts")])
async def show_strikes(exchange: Exchange, work: Work, me: Me) -> Answer:
    """What the team has done to oneself."""
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    rows = await store.page_of_strikes(work.db, me, cursor)
    return list_of(
        exchange, cursor, await render_warnings(work, rows), [row.id for row in rows], kind=CursorKind.RECORD3
    )


@get("/api/v1/strikes/{id}", guards=[user("read:accounts")])
async def show_strike(exchange: Exchange, work: Work, me: Me, id: FromPath[int]) -> Answer:
    [shown] = await render_warnings(work, [await _strike(work, id, me)])
    return answer(exchange, shown)


@post("/api/v1/strikes/{id}/appeal", guards=[user("write:accounts")])
async def appeal(exchange: Exchange, work: Work, me: Me, said: FromRequest[Said], id: FromPath[int]) -> Answer:
    """Ask the team to look at it again."""
    strike = await _strike(work, id, me)
    await appeals.create(work, strike, said.text)
    [shown] = await render_warnings(work, [strike])
    return answer(exchange, shown)


@post("/api/v1/appeals", guards=[anyone])
async def appeal_by_key(exchange: Exchange, work: Work, said: FromRequest[WithKey]) -> dict[str, str]:
    """The same for whoever may not come in, with the key from the mail about it."""
    await exchange.find(Limiter).spend_strictly(APPEALS, address_key(exchange.address))
    strike = await _strike(work, number(said.strike_id))
    if not is_appeal_key(work, strike.id, said.key):
        raise NotFound
    made = await appeals.create(work, strike, said.text)
    return {"text": made.text, "state": made.state}


routes = [create_report, show_reports, show_strikes, show_strike, appeal, appeal_by_key]
