from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.limits import Limiter, LimitRule
from kith.base.routing import FromPath, FromRequest, delete, get, post
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.viewers import Actor, Me
from kith.social.featured import service
from kith.social.guards import optional, user
from kith.social.ids import AccountId
from kith.social.pages import answer
from kith.social.tags import service as tags
from kith.social.tags import store as tag_store
from kith.social.tags.entities import render_featured, render_tags

_encode = msgspec.json.Encoder().encode
READ, WRITE = user("read:accounts"), user("write:accounts")
FEATURING = LimitRule("featuring", most=100, seconds=3600)  # all followers are told


async def not_too_often(exchange: Exchange) -> None:
    """A guard, after the one that tells who is calling."""
    spent = exchange.find(Limiter).spend(FEATURING, str(exchange.user_id))
    if spent is not None and (exchange.spent is None or spent.remaining < exchange.spent.remaining):
        exchange.spent = spent


class NamedTag(msgspec.Struct, kw_only=True):
    name: str


@get("/api/v1/featured_tags", guards=[READ])
async def show_featured(work: Work, account: Actor) -> list[dict[str, Any]]:
    found = await tag_store.features_of(work.db, account.id)
    return [render_featured(work.settings, account, one) for one in found]


@post("/api/v1/featured_tags", guards=[WRITE, not_too_often], status=200)
async def feature(work: Work, account: Actor, named: FromRequest[NamedTag]) -> dict[str, Any]:
    return render_featured(work.settings, account, await service.feature(work, account.id, named.name))


@delete("/api/v1/featured_tags/{id}", guards=[WRITE], status=200)
async def unfeature(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    await service.unfeature(work, me, id)
    return {}


@get("/api/v1/featured_tags/suggestions", guards=[READ])
async def show_suggestions(work: Work, me: Me) -> list[dict[str, Any]]:
    return await render_tags(work, await service.suggestions(work, me), me)


@post("/api/v1/tags/{name}/feature", guards=[WRITE, not_too_often], status=200)
async def feature_tag(work: Work, me: Me, name: FromPath[str]) -> dict[str, Any]:
    await service.feature(work, me, tags.plain_name(name))
    return (await render_tags(work, [await tags.find(work, name)], me))[0]


@post("/api/v1/tags/{name}/unfeature", guards=[WRITE], status=200)
async def unfeature_tag(work: Work, me: Me, name: FromPath[str]) -> dict[str, Any]:
    tag = await service.unfeature_named(work, me, name)
    return (await render_tags(work, [tag], me))[0]


@get("/api/v1/accounts/{id}/featured_tags", guards=[optional("read:accounts")])
async def show_featured_by(exchange: Exchange, work: Work, id: FromPath[AccountId]) -> Answer:
    """Whoever is gone shows nothing any more."""
    account = await accounts.find(work.db, id)
    if account is None or not account.is_listed:
        raise NotFound
    found = [] if account.is_gone else await tag_store.features_of(work.db, account.id)
    return answer(exchange, _encode([render_featured(work.settings, account, one) for one in found]))


routes = [show_featured, feature, unfeature, show_suggestions, feature_tag, unfeature_tag, show_featured_by]
