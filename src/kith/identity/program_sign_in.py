"""Sign-in through old software: a name and a password that an application hands over, and whether they may enter it."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from kith.base.caches import ForAWhile
from kith.base.errors import Problem, Throttled
from kith.base.exchange import Exchange, Server
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.audit import store as events
from kith.identity.caller import ApiCaller
from kith.identity.caller_authentication import CallerAuthenticator, SignInDoor
from kith.identity.expressions import subjects
from kith.identity.policies.engine import evaluate_target
from kith.identity.policies.request import PolicyRequest
from kith.identity.refusals import service as refusals
from kith.identity.users import store as users

__all__ = ["EnteredApplication", "ProgramLogins", "ProgramRefused", "check_policies", "exchange_for", "sign_in"]

NOTED_SECONDS = 3600.0
MOST_NOTED = 20_000
WRONG = "The name or the password is wrong, or may not be used here."


class EnteredApplication(Protocol):
    """The application that a provider leads into; `application` is the id of its policies, None where there is none."""

    @property
    def application(self) -> str | None: ...
    @property
    def application_name(self) -> str | None: ...
    @property
    def slug(self) -> str | None: ...
    @property
    def policy_engine_mode(self) -> str | None: ...


class ProgramRefused(Exception):  # noqa: N818 - an answer
    """`words` are for the client; `is_policy` where the person was right, but may not use the application."""

    def __init__(self, words: str, *, is_policy: bool = False, is_throttled: bool = False) -> None:
        super().__init__(words)
        self.words = words
        self.is_policy = is_policy
        self.is_throttled = is_throttled


def exchange_for(server: Server, method: str, path: str, address: str) -> Exchange:
    """What limits, policies and the audit trail know a request by that does not come over HTTP."""
    scope = {
        "type": "http", "method": method, "path": path, "query_string": b"", "headers": [], "client": (address, 0),
        "extensions": {},
    }  # fmt: skip
    return Exchange(server, scope, _nothing, _nowhere)


async def sign_in(
    exchange: Exchange, entered: EnteredApplication, username: str, password: str, door: SignInDoor
) -> ApiCaller:
    caller = await _prove(exchange, username, password, door)
    await check_policies(exchange.work, entered, caller.id)
    await exchange.find(ProgramLogins).note(exchange, entered, caller, door)
    return caller


class ProgramLogins:
    """Programs sign people in all day long: it is written down once per person, address and hour."""

    def __init__(self) -> None:
        self._noted: ForAWhile[bool] = ForAWhile("program_logins", seconds=NOTED_SECONDS, most=MOST_NOTED)

    async def note(self, exchange: Exchange, entered: EnteredApplication, caller: ApiCaller, door: SignInDoor) -> None:
        """In the audit trail, and as their last sign-in. Another process may have done it already."""
        key = (caller.id, door.app, exchange.address)
        if self._noted.get(key):
            return
        self._noted.put(key, True)
        since = exchange.work.now - timedelta(seconds=NOTED_SECONDS)
        if await events.has_login(exchange.work.db, caller.id, door.app, exchange.address, since):
            return
        application = {"pk": entered.application, "name": entered.application_name, "slug": entered.slug}
        context = {"auth_method": door.auth_method, "by": caller.way, "authorized_application": application}
        async with exchange.work.noting() as aside:
            await users.signed_in(aside.db, caller.id, aside.now)
            await audit.record(aside, "login", door.app, user_id=caller.id, username=caller.username, context=context)


async def _prove(exchange: Exchange, username: str, password: str, door: SignInDoor) -> ApiCaller:
    try:
        return await exchange.find(CallerAuthenticator).by_password(exchange, username, password, door)
    except Throttled as error:
        raise ProgramRefused(f"Too many tries. Wait {error.retry_after} seconds.", is_throttled=True) from error
    except Problem as error:
        raise ProgramRefused(WRONG) from error


async def check_policies(work: Work, entered: EnteredApplication, user_id: int) -> None:
    """`ProgramRefused` where the application's policies say no."""
    if entered.application is None:
        raise ProgramRefused("This provider does not belong to an application yet.", is_policy=True)
    context = {"application": {"pk": entered.application, "name": entered.application_name, "slug": entered.slug}}
    person = await subjects.get(work, user_id)
    request = PolicyRequest(person=person, context=context, client_ip=work.origin.address, target=entered.application)
    is_any = entered.policy_engine_mode == "any"
    verdict = await evaluate_target(work, entered.application, request, "any" if is_any else "all")
    if verdict.passing:
        return
    words = " ".join(verdict.messages) or "You may not use this application."
    async with work.aside() as aside:
        code = await refusals.refuse_by_policy(
            aside, verdict, request, area=f"application {entered.application_name}", message=words, details=context
        )
    raise ProgramRefused(f"{words} ({code})" if code else words, is_policy=True)


async def _nothing() -> dict[str, object]:
    return {"type": "http.disconnect"}


async def _nowhere(_message: object) -> None:
    return None
