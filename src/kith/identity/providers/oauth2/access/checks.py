"""Whether a person may enter an application through a client: their state, and the application's policies."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.providers.oauth2.access import policies as access
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.refusals import service as refusals
from kith.identity.sessions.tables import LoginSession
from kith.identity.users.tables import User

NOT_YET_CONFIRMED = "Please confirm your e-mail address first: follow the link in the message we sent you."
NOT_YET_APPROVED = "Your account has not been approved yet. You will get a message once it is."
DISABLED = "Your account is disabled."
NOT_ALLOWED = "You may not use this application."
NOT_YOU = "This is not available while you are viewing as another person"


class AccessDenied(Exception):  # noqa: N818 - an answer
    """The person may not enter; the messages say why, as far as the policies do.

    The refusal is stored already; `code` is what staff find it by.
    """

    def __init__(self, messages: list[str], code: str) -> None:
        super().__init__(" ".join(messages))
        self.messages = messages
        self.code = code


class AccessRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What policies know about the authorization request, under names that begin with `oauth_`."""

    scopes: list[str]
    grant_type: str
    redirect_uri: str = ""
    response_type: str = ""
    code_challenge: str = ""
    code_challenge_method: str = ""
    max_age: int | None = None

    def context(self) -> dict[str, Any]:
        return {f"oauth_{name}": getattr(self, name) for name in self.__struct_fields__}


async def check(work: Work, client: Client, user: User, session: LoginSession, entry: AccessRequest) -> None:
    """Raise `AccessDenied` unless the person may use this client. Call it before the work's first write."""
    reason = _why_not(work, user, session)
    if reason is not None:
        async with work.aside() as aside:
            code = await refusals.refuse(
                aside, area=_area(client), message=reason, reason=reason, details=_details(client, entry), user=user
            )
            await _record(aside, client, user, reason, entry, code)
        raise AccessDenied([reason], code)
    await check_policies(work, client, user, entry)


def _why_not(work: Work, user: User, session: LoginSession) -> str | None:
    if session.by_id is not None:
        return NOT_YOU
    if not user.is_active:
        return DISABLED
    if work.settings.confirm_email and user.email and user.confirmed_at is None:
        return NOT_YET_CONFIRMED
    return NOT_YET_APPROVED if user.approved_at is None else None


async def check_policies(work: Work, client: Client, user: User | None, entry: AccessRequest) -> None:
    """Evaluate the application's policies; a no is stored. Call it before the work's first write."""
    verdict, request = await access.ask(work, client, user.id if user is not None else None, context_of(client, entry))
    if verdict.passing:
        return
    messages = verdict.messages or [NOT_ALLOWED]
    reason = " ".join(messages)
    async with work.aside() as aside:  # beside this work, which ends in a refusal
        code = await refusals.refuse_by_policy(
            aside, verdict, request, area=_area(client), message=reason, details=_details(client, entry)
        )
        await _record(aside, client, user, reason, entry, code)
    raise AccessDenied(messages, code)


def context_of(client: Client, entry: AccessRequest) -> dict[str, Any]:
    """The context of the application's policies."""
    context = entry.context() | {"is_sso": True}
    if client.application is not None:
        application = client.application
        context["application"] = {"pk": application.pbm_uuid, "name": application.name, "slug": application.slug}
    return context


async def _record(work: Work, client: Client, user: User | None, reason: str, entry: AccessRequest, code: str) -> None:
    await audit.record(
        work,
        "authorization_refused",
        "providers.oauth2",
        user_id=user.id if user is not None else None,
        username=user.username if user is not None else "",
        context={
            "authorized_application": model_of(client),
            "reason": reason[:1000],
            "scopes": entry.scopes,
            "grant_type": entry.grant_type,
            "client": client.client_id,
            "refusal": code,
        },
    )


def _area(client: Client) -> str:
    if client.application is not None and client.app_id is None:
        return f"application {client.application.name}"
    return f"app {client.name}"


def _details(client: Client, entry: AccessRequest) -> dict[str, Any]:
    asked = {name: value for name, value in entry.context().items() if value}
    return {"application": model_of(client), "client": client.client_id, "asked": asked}


def model_of(client: Client) -> dict[str, Any]:
    """A client as the audit trail names it."""
    if client.application is not None and client.app_id is None:
        application = client.application
        return {"app": "core", "model_name": "application", "pk": application.pbm_uuid, "name": application.name}
    if client.app_id is not None:
        return {"app": "providers", "model_name": "app", "pk": str(client.app_id), "name": client.name}
    return {"app": "providers", "model_name": "provider", "pk": client.provider_id, "name": client.name}
