from __future__ import annotations

from typing import Any

from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get, post
from kith.base.work import Work
from kith.social.accounts.viewers import Actor, Me
from kith.social.annual_reports import refreshes, service, store
from kith.social.annual_reports.entities import render_reports
from kith.social.guards import user
from kith.social.ids import AccountId
from kith.social.pages import answer

READ, WRITE = user("read:accounts"), user("write:accounts")


def _waiting(me: AccountId, year: int) -> tuple[tuple[bytes, bytes], ...]:
    return ((b"mastodon-async-refresh", refreshes.header_value(me, year)),)


@get("/api/v1/annual_reports", guards=[READ])
async def show_unread(exchange: Exchange, work: Work, account: Actor) -> Answer:
    return answer(exchange, await render_reports(work, account, await store.unread(work.db, account.id)))


@get("/api/v1/annual_reports/{year}", guards=[READ])
async def show_report(exchange: Exchange, work: Work, account: Actor, year: FromPath[int]) -> Answer:
    return answer(exchange, await render_reports(work, account, [await service.find(work, account.id, year)]))


@get("/api/v1/annual_reports/{year}/state", guards=[READ])
async def show_state(exchange: Exchange, work: Work, me: Me, year: FromPath[int]) -> Answer:
    state = await service.state_of(work, me, year)
    headers = _waiting(me, year) if state == "generating" else ()
    return answer(exchange, b'{"state":"%b"}' % state.encode(), headers=headers)


@post("/api/v1/annual_reports/{year}/generate", guards=[WRITE])
async def generate(exchange: Exchange, work: Work, account: Actor, year: FromPath[int]) -> Answer:
    """202 while it is counted, 200 where there is nothing to do."""
    state = await service.generate(work, account.id, year)
    if state in ("eligible", "generating"):
        return answer(exchange, b"{}", status=202, headers=_waiting(account.id, year))
    return answer(exchange, b"{}")


@post("/api/v1/annual_reports/{year}/read", guards=[WRITE])
async def mark_read(work: Work, me: Me, year: FromPath[int]) -> dict[str, Any]:
    await service.mark_read(work, me, year)
    return {}


routes = [show_unread, show_report, show_state, generate, mark_read]
