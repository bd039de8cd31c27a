"""What people do to statuses: favourites, bookmarks, boosts, mutes and pins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.limits import LimitRule
from kith.base.routing import FromPath, FromRequest, Route, post
from kith.base.work import Work
from kith.social.accounts.viewers import Actor, Me
from kith.social.guards import user
from kith.social.ids import AccountId, StatusId
from kith.social.statuses.api.common import DELETING, POSTING, shown_anyway, shown_as_is, spend
from kith.social.statuses.service import boost as boosting
from kith.social.statuses.service import marks
from kith.social.statuses.subjects import Subject
from kith.social.statuses.tables import Status


class Boost(msgspec.Struct, kw_only=True):
    visibility: boosting.Visibility | None = None


def _does(
    verb: str,
    scope: str,
    do: Callable[[Work, AccountId, StatusId], Awaitable[Status | Subject]],
    *,
    rule: LimitRule | None = None,
) -> Route:
    """Marks a status, or takes back what only its reader may do; whoever does it sees what came of it.

    `rule` is for what all followers are told of.
    """

    @post(f"/api/v1/statuses/{{id}}/{verb}", guards=[user(scope)], status=200)
    async def mark(exchange: Exchange, work: Work, me: Me, id: FromPath[StatusId]) -> Answer:
        if rule is not None:
            spend(exchange, rule, me)
        status = await do(work, me, id)
        return await shown_as_is(exchange, status.id, me)

    return mark


def _undoes(verb: str, scope: str, do: Callable[[Work, AccountId, StatusId], Awaitable[StatusId]]) -> Route:
    """Takes back a mark, also of a status that its author would not show any more."""

    @post(f"/api/v1/statuses/{{id}}/{verb}", guards=[user(scope)], status=200)
    async def unmark(exchange: Exchange, work: Work, me: Me, id: FromPath[StatusId]) -> Answer:
        return await shown_anyway(exchange, await do(work, me, id), me)

    return unmark


@post("/api/v1/statuses/{id}/reblog", guards=[user("write:statuses")], status=200)
async def reblog(
    exchange: Exchange,
    work: Work,
    author: Actor,
    how: FromRequest[Boost],
    id: FromPath[StatusId],
) -> Answer:
    spend(exchange, POSTING, author.id)
    made = await boosting.boost(work, author, id, how.visibility)
    return await shown_as_is(exchange, made.id, author.id)


@post("/api/v1/statuses/{id}/unreblog", guards=[user("write:statuses")], status=200)
async def unreblog(exchange: Exchange, work: Work, author: Actor, id: FromPath[StatusId]) -> Answer:
    spend(exchange, DELETING, author.id)
    original = await boosting.unboost(work, author, id)
    return await shown_anyway(exchange, original, author.id)


routes = [
    _does("favourite", "write:favourites", marks.favourite),
    _undoes("unfavourite", "write:favourites", marks.unfavourite),
    _does("bookmark", "write:bookmarks", marks.bookmark),
    _undoes("unbookmark", "write:bookmarks", marks.unbookmark),
    _does("mute", "write:mutes", marks.mute),
    _does("unmute", "write:mutes", marks.unmute),
    _does("pin", "write:accounts", marks.pin, rule=POSTING),
    _does("unpin", "write:accounts", marks.unpin),
    reblog,
    unreblog,
]
