"""/settings/invites: links that let others sign up, for whoever may invite."""

from __future__ import annotations

from typing import Any

from kith.base.errors import Forbidden
from kith.base.exchange import Answer, Exchange
from kith.base.limits import Limiter, LimitRule
from kith.base.routing import FromPath, get, post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.social.accounts.tables import Account
from kith.social.roles import store as roles
from kith.web.client.frame import PageMember
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form
from kith.web.settings.frame import entered, settings_page
from kith.web.settings.saving import is_ticked, number_of
from kith.web.translation import translatable

PAGE = "/settings/invites"
MOST = 50  # of one person's that are still good
NEW = LimitRule("invites", most=25, seconds=86_400)
ENDS = (
    (1800, translatable("30 minutes")),
    (3600, translatable("1 hour")),
    (21_600, translatable("6 hours")),
    (43_200, translatable("12 hours")),
    (86_400, translatable("1 day")),
    (604_800, translatable("1 week")),
)
USES = (1, 5, 10, 25, 50, 100)


async def may_invite(work: Work, account: Account) -> bool:
    """Their role permits it, or everybody may."""
    role = (await roles.load(work.db)).of(account.role, account.role_id)
    return account.may_act and role.allows("invite_users", "manage_invites")


@get(PAGE)
async def show_invites(exchange: Exchange, work: Work) -> Answer:
    member = await entered(exchange)
    return member if isinstance(member, Answer) else await _page(exchange, work, member)


async def _page(exchange: Exchange, work: Work, member: PageMember, *, status: int = 200, problem: str = "") -> Answer:
    found = await identity.own_invites(work, member.visitor.user.id)
    return await settings_page(
        exchange,
        "settings/invites.html",
        member.visitor,
        part="invites",
        status=status,
        problem=problem,
        invites=[(one, one.is_over(work.now)) for one in found],
        may_invite=await may_invite(work, member.account) and not member.visitor.is_acting,
        base_url=work.settings.base_url,
        ends=ENDS,
        uses=USES,
    )


@post(PAGE)
async def make_invite(exchange: Exchange, work: Work) -> Answer:
    _, form = await read_own_form(exchange)
    member = await entered(exchange)
    if isinstance(member, Answer):
        return member
    if member.visitor.is_acting or not await may_invite(work, member.account):
        raise Forbidden
    user = member.visitor.user
    open_ones = [one for one in await identity.own_invites(work, user.id) if not one.is_over(work.now)]
    if len(open_ones) >= MOST:
        words = translatable("You have as many open invitations as you can. Please withdraw some first.")
        return await _page(exchange, work, member, status=422, problem=words)
    exchange.find(Limiter).spend(NEW, str(user.id))
    await identity.invite(work, user.id, name="", **_wanted(form))
    return see_other(PAGE)


def _wanted(form: dict[str, Any]) -> dict[str, Any]:
    """What is not among the choices is as if nothing had been chosen."""
    seconds, most = number_of(form, "expires_in"), number_of(form, "max_uses")
    return {
        "expires_in": seconds if seconds in dict(ENDS) else None,
        "max_uses": most if most in USES else None,
        "single_use": False,
        "autofollow": is_ticked(form, "autofollow"),
    }


@post(f"{PAGE}/{{id}}/withdraw")
async def withdraw_invite(exchange: Exchange, work: Work, id: FromPath[str]) -> Answer:
    visitor, _ = await read_own_form(exchange)
    if visitor is not None and not visitor.is_acting:
        await identity.withdraw_own_invite(work, visitor.user.id, id)
    return see_other(PAGE)


routes = [show_invites, make_invite, withdraw_invite]
