from __future__ import annotations

from typing import Any

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, FromQuery, FromRequest, delete, get, post
from kith.base.work import Work
from kith.social.accounts.entities import render_lines
from kith.social.accounts.lines import AccountRow
from kith.social.accounts.viewers import Me
from kith.social.guards import user
from kith.social.ids import AccountId
from kith.social.pages import answer, joined
from kith.social.staff import TheStaff, staff
from kith.social.suggestions import picks, reading, service, store
from kith.social.suggestions.entities import render_suggestion

LIMIT, MOST, FARTHEST = 40, 80, 1000
READ = user("read:accounts")
DEPRECATED = ((b"deprecation", b"@1621123200"),)  # since there is version 2


class SuggestionsQuery(msgspec.Struct, kw_only=True):
    limit: int = LIMIT
    offset: int = 0


class PickedAccount(msgspec.Struct, kw_only=True):
    account_id: AccountId


async def _read(work: Work, me: AccountId, asked: SuggestionsQuery) -> list[reading.SuggestionRow]:
    limit = min(abs(asked.limit), MOST) or LIMIT
    return await reading.read(work, me, limit=limit, offset=min(max(asked.offset, 0), FARTHEST))


@get("/api/v1/suggestions", guards=[READ])
async def show_accounts(exchange: Exchange, work: Work, me: Me, asked: FromQuery[SuggestionsQuery]) -> Answer:
    rows = await _read(work, me, asked)
    return answer(exchange, joined(await render_lines(work, rows)), headers=DEPRECATED)


@get("/api/v2/suggestions", guards=[READ])
async def show_suggestions(exchange: Exchange, work: Work, me: Me, asked: FromQuery[SuggestionsQuery]) -> Answer:
    rows = await _read(work, me, asked)
    shown = await render_lines(work, rows)
    return answer(exchange, joined([render_suggestion(*pair) for pair in zip(rows, shown, strict=True)]))


@delete("/api/v1/suggestions/{account_id}", guards=[user("read:accounts", "write:accounts")])
async def remove_suggestion(work: Work, me: Me, account_id: FromPath[AccountId]) -> dict[str, Any]:
    await service.remove(work, me, account_id)
    return {}


# What the team suggests


@get("/api/v1/admin/suggestions", guards=[staff("manage_taxonomies", scope="admin:read")])
async def show_picked(exchange: Exchange, work: Work) -> Answer:
    return answer(exchange, joined(await render_lines(work, await store.picked(work.db))))


@post("/api/v1/admin/suggestions", guards=[staff("manage_taxonomies", scope="admin:write")])
async def pick_account(exchange: Exchange, work: Work, by: TheStaff, picked: FromRequest[PickedAccount]) -> Answer:
    account = await picks.pick(work, by, picked.account_id)
    [shown] = await render_lines(work, [AccountRow(account.id, account.version)])
    return answer(exchange, shown)


@delete("/api/v1/admin/suggestions/{account_id}", guards=[staff("manage_taxonomies", scope="admin:write")])
async def unpick_account(work: Work, by: TheStaff, account_id: FromPath[AccountId]) -> dict[str, Any]:
    await picks.unpick(work, by, account_id)
    return {}


routes = [show_accounts, show_suggestions, remove_suggestion, show_picked, pick_account, unpick_account]
