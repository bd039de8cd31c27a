"""/settings/moving: one's other accounts, moving to one of them, and coming back."""

from __future__ import annotations

from typing import Any

from kith.base.errors import Invalid
from kith.base.exchange import Answer, Exchange
from kith.base.routing import get, post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.accounts.user_accounts import of_user
from kith.social.ids import UserId
from kith.social.moving import service
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.settings.frame import settings_page
from kith.web.translation import translatable

PAGE = "/settings/moving"
SIGN_IN = f"/flows/-/default/authentication/?next={PAGE}"
MOST_CHARACTERS = 10_000

# What the rules of moving complain about, in words for the page.
_WORDS = {
    "not_found": translatable("No such account could be found."),
    "self": translatable("This is the account you have here."),
    "moved": translatable("This account has moved to another one itself."),
    "missing_alias": translatable("This account does not name yours as an alias yet. Please add it there first."),
    "on_cooldown": translatable("You have moved recently. You can move again 30 days after that."),
    "wrong_password": translatable("Invalid password"),
    "blank": translatable("Please enter where you have moved to."),
    "too_many": translatable("These are too many."),
}
_OTHER = translatable("This is not possible.")


@get(PAGE)
async def show_moving(exchange: Exchange, work: Work) -> Answer:
    visitor = await identity.find_visitor(exchange)
    return see_other(SIGN_IN) if visitor is None else await _page(exchange, work, visitor)


async def _page(
    exchange: Exchange, work: Work, visitor: identity.Visitor, *, status: int = 200, **values: Any
) -> Answer:
    account = await of_user(work, UserId(visitor.user.id))
    target = None if account.moved_to is None else await accounts.find(work.db, account.moved_to)
    return await settings_page(
        exchange,
        "settings/moving.html",
        visitor,
        part="moving",
        status=status,
        may_change=not visitor.is_acting and (account.may_act or account.moved_to is not None),
        aliases="\n".join(account.also_known_as),
        target=None if target is None else (target.url or target.uri, f"@{target.acct}"),
        **{"errors": {}, "form": {}, "done": False, **values},
    )


@post(f"{PAGE}/aliases")
async def change_aliases(exchange: Exchange, work: Work) -> Answer:
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    given = text_field(form, "aliases")[:MOST_CHARACTERS]
    try:
        await service.set_aliases(work, await _own(work, visitor), given.split())
    except Invalid as problem:
        return await _page(exchange, work, visitor, status=400, errors=_told(problem), form={"aliases": given})
    return await _page(exchange, work, visitor, done=True)


@post(f"{PAGE}/move")
async def move(exchange: Exchange, work: Work) -> Answer:
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    target, given = text_field(form, "target")[:MOST_CHARACTERS], form.get("password")
    try:
        password = given if isinstance(given, str) else ""
        await service.move_out(work, await _own(work, visitor), uri=target, password=password)
    except Invalid as problem:
        return await _page(exchange, work, visitor, status=400, errors=_told(problem), form={"target": target})
    return await _page(exchange, work, visitor)


@post(f"{PAGE}/cancel")
async def come_back(exchange: Exchange, work: Work) -> Answer:
    visitor, _ = await read_own_form(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    if not visitor.is_acting:
        await service.come_back(work, await of_user(work, UserId(visitor.user.id)))
    return see_other(PAGE)


async def _own(work: Work, visitor: identity.Visitor) -> Account:
    """To act with: not through somebody else's eyes, and not for whoever was shut out or has moved already."""
    account = await of_user(work, UserId(visitor.user.id))
    if visitor.is_acting or not account.may_act:
        raise Invalid(fields={"": [_OTHER]})
    return account


def _told(problem: Invalid) -> dict[str, list[str]]:
    return {
        field: [_WORDS.get(getattr(one, "code", ""), _OTHER) for one in complaints]
        for field, complaints in problem.fields.items()
    }


routes = [show_moving, change_aliases, move, come_back]
