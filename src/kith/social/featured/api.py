from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base.edge import exchange_of
from kith.base.errors import NotFound
from kith.base.params import params
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.viewers import account_of, acting
from kith.social.featured import service
from kith.social.guards import Member, optional, user
from kith.social.pages import answer, number
from kith.social.tags import service as tags
from kith.social.tags import store as tag_store
from kith.social.tags.entities import render_featured, render_tags

AnyRequest = Request[Any, Any, Any]
_encode = msgspec.json.Encoder().encode
READ, WRITE = user("read:accounts"), user("write:accounts")


class Named(msgspec.Struct, kw_only=True):
    name: str


@get("/api/v1/featured_tags", guards=[READ])
async def show_featured(work: NamedDependency[Work], me: NamedDependency[Member]) -> list[dict[str, Any]]:
    account = await acting(work, me)
    found = await tag_store.features_of(work.db, account.id)
    return [render_featured(work.settings, account, one) for one in found]


@post("/api/v1/featured_tags", guards=[WRITE], dependencies={"named": params(Named)}, status_code=200)
async def feature(
    work: NamedDependency[Work], me: NamedDependency[Member], named: NamedDependency[Named]
) -> dict[str, Any]:
    account = await acting(work, me)
    return render_featured(work.settings, account, await service.feature(work, account.id, named.name))


@delete("/api/v1/featured_tags/{id:str}", guards=[WRITE], status_code=200)
async def unfeature(work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]) -> dict[str, Any]:
    await service.unfeature(work, await account_of(work, me), number(id))
    return {}


@get("/api/v1/featured_tags/suggestions", guards=[READ])
async def show_suggestions(work: NamedDependency[Work], me: NamedDependency[Member]) -> list[dict[str, Any]]:
    account = await account_of(work, me)
    return await render_tags(work, await service.suggestions(work, account), account)


@post("/api/v1/tags/{name:str}/feature", guards=[WRITE], status_code=200)
async def feature_tag(work: NamedDependency[Work], me: NamedDependency[Member], name: FromPath[str]) -> dict[str, Any]:
    account = await account_of(work, me)
    await service.feature(work, account, tags.plain_name(name))
    return (await render_tags(work, [await tags.find(work, name)], account))[0]


@post("/api/v1/tags/{name:str}/unfeature", guards=[WRITE], status_code=200)
async def unfeature_tag(
    work: NamedDependency[Work], me: NamedDependency[Member], name: FromPath[str]
) -> dict[str, Any]:
    account = await account_of(work, me)
    tag = await service.unfeature_named(work, account, name)
    return (await render_tags(work, [tag], account))[0]


@get("/api/v1/accounts/{id:str}/featured_tags", guards=[optional("read:accounts")])
async def show_featured_by(request: AnyRequest, work: NamedDependency[Work], id: FromPath[str]) -> ASGIResponse:
    """Whoever is gone shows nothing any more."""
    account = await accounts.find(work.db, number(id))
    if account is None or not account.is_listed:
        raise NotFound
    found = [] if account.is_gone else await tag_store.features_of(work.db, account.id)
    return answer(exchange_of(request), _encode([render_featured(work.settings, account, one) for one in found]))


routes = [show_featured, feature, unfeature, show_suggestions, feature_tag, unfeature_tag, show_featured_by]
