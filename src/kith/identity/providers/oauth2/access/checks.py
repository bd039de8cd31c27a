"""Whether a person may enter an application through a client: their state, and the application's policies."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.providers.oauth2.access import policies as access
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.sign_on.access import (
    AccessDenied,
    Entry,
    check_person,
    policy_context,
    refuse_by_verdict,
)
from kith.identity.sessions.tables import LoginSession
from kith.identity.users.tables import User

__all__ = ["AccessDenied", "AccessRequest", "check", "check_policies", "context_of", "model_of"]


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


async def check(work: Work, client: Client, user: User, session: LoginSession, request: AccessRequest) -> None:
    """Raise `AccessDenied` unless the person may use this client. Call it before the work's first write."""
    await check_person(work, user, session, _entry(client, request))
    await check_policies(work, client, user, request)


async def check_policies(
    work: Work, client: Client, user: User | None, request: AccessRequest, *, address: str | None = None
) -> None:
    """Evaluate the application's policies; a no is stored. Call it before the work's first write.

    `address` is where the person was last seen, if it is not their request.
    """
    entry = _entry(client, request)
    user_id = user.id if user is not None else None
    verdict, asked = await access.ask(work, client, user_id, dict(entry.context), address=address)
    if not verdict.passing:
        raise await refuse_by_verdict(work, verdict, asked, user, entry)


def context_of(client: Client, request: AccessRequest) -> dict[str, Any]:
    """The context of the application's policies."""
    return request.context() | policy_context(client.application)


def _entry(client: Client, request: AccessRequest) -> Entry:
    asked = {name: value for name, value in request.context().items() if value}
    return Entry(
        area=_area(client),
        app="providers.oauth2",
        context=context_of(client, request),
        details={"application": model_of(client), "client": client.client_id, "asked": asked},
        recorded={
            "authorized_application": model_of(client),
            "scopes": request.scopes,
            "grant_type": request.grant_type,
            "client": client.client_id,
        },
    )


def _area(client: Client) -> str:
    if client.application is not None and client.app_id is None:
        return f"application {client.application.name}"
    return f"app {client.name}"


def model_of(client: Client) -> dict[str, Any]:
    """A client as the audit trail names it."""
    if client.application is not None and client.app_id is None:
        return client.application.model()
    if client.app_id is not None:
        return {"app": "providers", "model_name": "app", "pk": str(client.app_id), "name": client.name}
    return {"app": "providers", "model_name": "provider", "pk": client.provider_id, "name": client.name}
