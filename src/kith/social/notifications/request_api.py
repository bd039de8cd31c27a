"""Routes of the policy, and of requests from those whom it holds back."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromRequest, get, post, put
from kith.base.work import Work
from kith.social.accounts.viewers import Me
from kith.social.guards import user
from kith.social.ids import AccountId
from kith.social.notifications import request_store, requests
from kith.social.notifications.request_entities import render_policy, render_policy_v1, render_requests
from kith.social.notifications.requests import PolicyChange
from kith.social.pages import answer, list_of, numbers

LIMIT, MOST = 40, 80
MOST_IDS = 80
READ, WRITE = user("read:notifications"), user("write:notifications")


class PolicyFormV1(msgspec.Struct, kw_only=True):
    """The older form knows only whether such notifications are held back."""

    filter_not_following: bool | None = None
    filter_not_followers: bool | None = None
    filter_new_accounts: bool | None = None
    filter_private_mentions: bool | None = None
    filter_bots: bool | None = None


class NamedRequests(msgspec.Struct, kw_only=True):
    id: list[str] | None = None


@get("/api/v1/notifications/policy", guards=[READ])
async def show_policy_v1(work: Work, me: Me) -> dict[str, Any]:
    return render_policy_v1(await request_store.policy_of(work.db, me), await request_store.summary(work.db, me))


@put("/api/v1/notifications/policy", guards=[WRITE])
async def change_policy_v1(work: Work, me: Me, form: FromRequest[PolicyFormV1]) -> dict[str, Any]:
    given = {name.replace("filter_", "for_"): value for name, value in msgspec.structs.asdict(form).items()}
    change = PolicyChange(
        **{name: "filter" if value else "accept" for name, value in given.items() if value is not None}
    )
    policy = await requests.change_policy(work, me, change)
    return render_policy_v1(policy, await request_store.summary(work.db, me))


@get("/api/v2/notifications/policy", guards=[READ])
async def show_policy(work: Work, me: Me) -> dict[str, Any]:
    return render_policy(await request_store.policy_of(work.db, me), await request_store.summary(work.db, me))


@put("/api/v2/notifications/policy", guards=[WRITE])
async def change_policy(work: Work, me: Me, form: FromRequest[PolicyChange]) -> dict[str, Any]:
    policy = await requests.change_policy(work, me, form)
    return render_policy(policy, await request_store.summary(work.db, me))


@get("/api/v1/notifications/requests", guards=[READ])
async def show_requests(exchange: Exchange, work: Work, me: Me) -> Answer:
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    found = await request_store.page(work.db, me, cursor)
    shown = await render_requests(work, found, me)
    return list_of(exchange, cursor, shown, [one.id for one in found], kind=CursorKind.RECORD3)


@get("/api/v1/notifications/requests/merged", guards=[READ])
async def show_merged(work: Work, me: Me) -> dict[str, bool]:
    return {"merged": not await request_store.is_merging(work.db, me)}


@get("/api/v1/notifications/requests/{id}", guards=[READ])
async def show_request(exchange: Exchange, work: Work, me: Me, id: FromPath[int]) -> Answer:
    shown = await render_requests(work, [await requests.find(work, me, id)], me)
    if not shown:
        raise NotFound
    return answer(exchange, shown[0])


@post("/api/v1/notifications/requests/{id}/accept", guards=[WRITE], status=200)
async def accept_request(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    await requests.accept(work, me, [(await requests.find(work, me, id)).id])
    return {}


@post("/api/v1/notifications/requests/{id}/dismiss", guards=[WRITE], status=200)
async def dismiss_request(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    await requests.dismiss(work, me, [(await requests.find(work, me, id)).id])
    return {}


@post("/api/v1/notifications/requests/accept", guards=[WRITE], status=200)
async def accept_requests(work: Work, me: Me, named: FromRequest[NamedRequests]) -> dict[str, Any]:
    await requests.accept(work, me, await _all_of(work, me, named))
    return {}


@post("/api/v1/notifications/requests/dismiss", guards=[WRITE], status=200)
async def dismiss_requests(work: Work, me: Me, named: FromRequest[NamedRequests]) -> dict[str, Any]:
    await requests.dismiss(work, me, await _all_of(work, me, named))
    return {}


async def _all_of(work: Work, me: AccountId, named: NamedRequests) -> list[int]:
    """One that is not there fails all of them; none are a request about nothing."""
    if not named.id:
        return []
    if len(named.id) > MOST_IDS:
        raise Invalid(id=f"has more than {MOST_IDS} entries")
    ids = numbers(named.id)
    if len(ids) < len(set(named.id)) or len(await request_store.senders(work.db, me, ids)) < len(ids):
        raise NotFound
    return ids


routes = [
    show_policy_v1, change_policy_v1, show_policy, change_policy, show_requests, show_merged, show_request,
    accept_request, dismiss_request, accept_requests, dismiss_requests,
]  # fmt: skip
