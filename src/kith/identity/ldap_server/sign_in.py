"""Who binds: by name and password, an app password, or the password with a code; and whether they may."""

from __future__ import annotations

import msgspec

from kith.base.errors import Problem, Throttled
from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.caller_authentication import CallerAuthenticator, SignInDoor
from kith.identity.expressions import subjects
from kith.identity.ldap_server.store import DirectoryProvider
from kith.identity.policies.engine import evaluate_target
from kith.identity.policies.request import PolicyRequest
from kith.identity.refusals import service as refusals
from kith.identity.rights import rights_of
from kith.identity.users import store as users

__all__ = ["BindRefused", "BoundPerson", "bind", "refreshed"]

RIGHT = "core.view_user"


class BoundPerson(msgspec.Struct, frozen=True):
    """Somebody who has proved who they are, through the tree of one provider."""

    user_id: int
    username: str
    provider_id: int
    may_see_all: bool


class BindRefused(Exception):  # noqa: N818 - an answer
    """`words` are for the client; `is_policy` where the person was right, but may not use the application."""

    def __init__(self, words: str, *, is_policy: bool = False, is_throttled: bool = False) -> None:
        super().__init__(words)
        self.words = words
        self.is_policy = is_policy
        self.is_throttled = is_throttled


async def bind(exchange: Exchange, provider: DirectoryProvider, username: str, password: str) -> BoundPerson:
    caller = await _prove(exchange, provider, username, password)
    await _check_policies(exchange.work, provider, caller)
    return BoundPerson(caller.id, caller.username, provider.id, caller.may(RIGHT))


async def _prove(exchange: Exchange, provider: DirectoryProvider, username: str, password: str) -> ApiCaller:
    try:
        return await exchange.find(CallerAuthenticator).by_password(
            exchange, username, password, SignInDoor("providers.ldap", "ldap", takes_code=provider.mfa_support)
        )
    except Throttled as error:
        raise BindRefused(f"Too many tries. Wait {error.retry_after} seconds.", is_throttled=True) from error
    except Problem as error:
        raise BindRefused("The name or the password is wrong, or may not be used here.") from error


async def _check_policies(work: Work, provider: DirectoryProvider, caller: ApiCaller) -> None:
    person = await subjects.get(work, caller.id)
    context = {"application": {"pk": provider.application, "name": provider.application_name, "slug": provider.slug}}
    request = PolicyRequest(person=person, context=context, client_ip=work.origin.address, target=provider.application)
    if provider.application is None:
        raise BindRefused("This tree does not belong to an application yet.", is_policy=True)
    is_any = provider.policy_engine_mode == "any"
    verdict = await evaluate_target(work, provider.application, request, "any" if is_any else "all")
    if verdict.passing:
        return
    words = " ".join(verdict.messages) or "You may not use this application."
    async with work.aside() as aside:
        code = await refusals.refuse_by_policy(
            aside, verdict, request, area=f"application {provider.application_name}", message=words, details=context
        )
    raise BindRefused(f"{words} ({refusals.shown(code)})", is_policy=True)


async def refreshed(work: Work, bound: BoundPerson) -> BoundPerson | None:
    """The same person as they are now; None where they may do nothing any more."""
    login = await users.find_login_by_id(work.db, bound.user_id)
    if login is None or not login.is_active:
        return None
    rights = await rights_of(work.db, login.id, login.role)
    return msgspec.structs.replace(bound, may_see_all=rights is None or RIGHT in rights)
