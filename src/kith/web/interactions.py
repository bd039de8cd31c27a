"""/authorize_interaction?uri=: somebody has found a person or a post elsewhere, and wants to do something with it here.

Other servers lead their visitors here, by the address that WebFinger gives them.
"""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from kith.base.errors import Forbidden, NotFound, Problem
from kith.base.exchange import Answer, Exchange
from kith.base.limits import Limiter, LimitRule
from kith.base.routing import get, post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.social.accounts import store as accounts
from kith.social.accounts.directory import Directory
from kith.social.accounts.entities import render
from kith.social.accounts.tables import Account
from kith.social.accounts.user_accounts import of_user
from kith.social.ids import AccountId, UserId
from kith.social.relationships import store as relationships
from kith.social.relationships.service import follow
from kith.social.search.elsewhere import Elsewhere, FoundElsewhere
from kith.social.statuses import entities
from kith.social.statuses import store as statuses
from kith.web.pages import page, see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.shown_posts import emphasised, shown_post, written

PATH = "/authorize_interaction"
LONGEST = 2048
LOOKS = LimitRule("interactions", most=60, seconds=600)


@get(PATH)
async def show_interaction(exchange: Exchange, work: Work) -> Answer:
    asked = (exchange.query("uri") or exchange.query("acct"))[:LONGEST].replace("\0", "").strip()
    visitor = await identity.find_visitor(exchange)
    if visitor is None:
        here = f"{PATH}?uri={quote(asked, safe='')}"
        return see_other(f"/flows/-/default/authentication/?next={quote(here, safe='')}")
    exchange.find(Limiter).spend(LOOKS, str(visitor.user.id))
    me = await _acting(work, visitor)
    found = await _find(work, asked)
    if found.account_id is not None:
        return await _person(exchange, work, visitor, me, found.account_id)
    if found.status_id is None or await statuses.find_visible(work.db, found.status_id, me.id) is None:
        raise NotFound
    shown = await entities.render_by_id(work, [found.status_id], me.id)
    if found.status_id not in shown:
        raise NotFound
    entity = shown_post(msgspec.json.decode(shown[found.status_id]))
    return page(exchange, "interaction.html", visitor=visitor, person=None, post=entity, problem="")


async def _acting(work: Work, visitor: identity.Visitor) -> Account:
    account = await of_user(work, UserId(visitor.user.id))
    if not account.may_act:
        raise Forbidden
    return account


async def _find(work: Work, asked: str) -> FoundElsewhere:
    """By address, or by handle, as either is known or can be looked up."""
    if "://" in asked:
        known = await accounts.find_by_uri(work.db, asked)
        if known is not None:
            return FoundElsewhere(account_id=known.id)
        found = await work.find(Elsewhere).look_up(work, asked)  # type: ignore[type-abstract]
    else:
        account = await work.find(Directory).find_at(work, asked.removeprefix("acct:"))  # type: ignore[type-abstract]
        found = None if account is None else FoundElsewhere(account_id=account.id)
    if found is None:
        raise NotFound
    return found


async def _person(
    exchange: Exchange,
    work: Work,
    visitor: identity.Visitor,
    me: Account,
    id: AccountId,
    *,
    problem: str = "",
) -> Answer:
    account = await accounts.find(work.db, id)
    if account is None or account.is_gone or not account.is_listed:
        raise NotFound
    entity = msgspec.json.decode((await render(work, [account]))[0])
    return page(
        exchange,
        "interaction.html",
        status=422 if problem else 200,
        visitor=visitor,
        person=entity,
        post=None,
        name=emphasised(entity["display_name"] or account.username, entity["emojis"]),
        note=written(entity["note"], entity["emojis"]),
        handle=f"@{account.acct}" if account.domain else f"@{account.username}@{work.settings.domain}",
        is_me=account.id == me.id,
        follows=await relationships.is_following(work.db, me.id, account.id),
        asks=await relationships.find_request(work.db, me.id, account.id) is not None,
        problem=problem,
    )


@post(PATH)
async def follow_from_page(exchange: Exchange, work: Work) -> Answer:
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return see_other("/flows/-/default/authentication/")
    me = await _acting(work, visitor)
    given = text_field(form, "id")
    if not (given.isascii() and given.isdigit() and len(given) < 20):
        raise NotFound
    target = AccountId(int(given))
    try:
        async with work.db.savepoint():
            await follow.follow(work, me, target, follow.Options(), by_hand=True)
    except Problem as problem:
        return await _person(exchange, work, visitor, me, target, problem=problem.message)
    return await _person(exchange, work, visitor, me, target)


routes = [show_interaction, follow_from_page]
