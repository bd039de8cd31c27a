from __future__ import annotations

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.limits import Limiter, Rule
from kith.base.paging import Cursor, Kind
from kith.base.routing import FromRequest, get, number, post
from kith.base.work import Work
from kith.social.accounts.viewers import Actor, Me
from kith.social.guards import user
from kith.social.ids import AccountId
from kith.social.moderation import reports, store
from kith.social.moderation.entities import render_reports
from kith.social.pages import answer, list_of

LIMIT, MOST = 20, 40
REPORTS = Rule("reports", most=400, seconds=86_400)


class New(msgspec.Struct, kw_only=True):
    account_id: str
    status_ids: list[str] = []
    collection_ids: list[str] = []
    comment: str = ""
    forward: bool = False
    forward_to_domains: list[str] = []
    category: str = "other"
    rule_ids: list[str] = []


@post("/api/v1/reports", guards=[user("write:reports")])
async def create_report(exchange: Exchange, work: Work, actor: Actor, new: FromRequest[New]) -> Answer:
    """Tell the team of somebody."""
    await exchange.find(Limiter).spend_strictly(REPORTS, str(actor.user_id))
    draft = reports.Draft(
        target_id=AccountId(number(new.account_id)), status_ids=[number(id) for id in new.status_ids],
        collection_ids=[number(id) for id in new.collection_ids], comment=new.comment, forward=new.forward,
        forward_to_domains=new.forward_to_domains, category=new.category, rule_ids=new.rule_ids,
    )  # fmt: skip
    [shown] = await render_reports(work, [await reports.create(work, actor, draft)])
    return answer(exchange, shown)


@get("/api/v1/reports", guards=[user("read:reports", "read")])
async def show_reports(exchange: Exchange, work: Work, me: Me) -> Answer:
    """One's own."""
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=Kind.RECORD3)
    rows = await store.page_of_reports(work.db, cursor, account=me)
    return list_of(exchange, cursor, await render_reports(work, rows), [row.id for row in rows], kind=Kind.RECORD3)


routes = [create_report, show_reports]
