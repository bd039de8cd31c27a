"""What people do to statuses: favourites, bookmarks, boosts, mutes and pins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec
from litestar import post
from litestar.di import NamedDependency
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base.edge import exchange_of
from kith.base.params import params
from kith.base.work import Work
from kith.social.accounts.viewers import account_of, acting
from kith.social.guards import Member, user
from kith.social.pages import number
from kith.social.statuses.api.common import DELETING, POSTING, AnyRequest, shown_anyway, shown_as_is, spend
from kith.social.statuses.service import boost as boosting
from kith.social.statuses.service import marks
from kith.social.statuses.tables import Status


class Boost(msgspec.Struct, kw_only=True):
    visibility: boosting.Visibility | None = None


def _does(verb: str, scope: str, do: Callable[[Work, int, int], Awaitable[Status]]) -> HTTPRouteHandler:
    """Marks a status, or takes back what only its reader may do; whoever does it sees what came of it."""

    @post(f"/api/v1/statuses/{{id:str}}/{verb}", guards=[user(scope)], status_code=200)
    async def mark(
        request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
    ) -> ASGIResponse:
        account = await account_of(work, me)
        status = await do(work, account, number(id))
        return await shown_as_is(request, work, status.id, account)

    return mark


def _undoes(verb: str, scope: str, do: Callable[[Work, int, int], Awaitable[int]]) -> HTTPRouteHandler:
    """Takes back a mark, also of a status that its author would not show any more."""

    @post(f"/api/v1/statuses/{{id:str}}/{verb}", guards=[user(scope)], status_code=200)
    async def unmark(
        request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
    ) -> ASGIResponse:
        account = await account_of(work, me)
        return await shown_anyway(request, work, await do(work, account, number(id)), account)

    return unmark


@post(
    "/api/v1/statuses/{id:str}/reblog", guards=[user("write:statuses")], dependencies={"how": params(Boost)},
    status_code=200,
)  # fmt: skip
async def reblog(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], how: NamedDependency[Boost],
    id: FromPath[str],
) -> ASGIResponse:  # fmt: skip
    author = await acting(work, me)
    spend(exchange_of(request), POSTING, author.id)
    made = await boosting.boost(work, author, number(id), how.visibility)
    return await shown_as_is(request, work, made.id, author.id)


@post("/api/v1/statuses/{id:str}/unreblog", guards=[user("write:statuses")], status_code=200)
async def unreblog(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    author = await acting(work, me)
    spend(exchange_of(request), DELETING, author.id)
    original = await boosting.unboost(work, author, number(id))
    return await shown_anyway(request, work, original, author.id)


routes = [
    _does("favourite", "write:favourites", marks.favourite),
    _undoes("unfavourite", "write:favourites", marks.unfavourite),
    _does("bookmark", "write:bookmarks", marks.bookmark),
    _undoes("unbookmark", "write:bookmarks", marks.unbookmark),
    _does("mute", "write:mutes", marks.mute),
    _does("unmute", "write:mutes", marks.unmute),
    _does("pin", "write:accounts", marks.pin),
    _does("unpin", "write:accounts", marks.unpin),
    reblog,
    unreblog,
]
