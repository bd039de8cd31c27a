"""Who may enter: what a person must be, and what the application's policies say."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.providers.oauth2 import access
from kith.identity.providers.oauth2.clients import Client
from kith.identity.users.tables import User

NOT_YET_CONFIRMED = "Please confirm your e-mail address first: follow the link in the message we sent you."
NOT_YET_APPROVED = "Your account has not been approved yet. You will get a message once it is."
DISABLED = "Your account is disabled."
NOT_ALLOWED = "You may not use this application."


class Refused(Exception):  # noqa: N818 - an answer
    """Somebody may not enter; the words say why, as far as those who decide want it said."""

    def __init__(self, messages: list[str]) -> None:
        super().__init__(" ".join(messages))
        self.messages = messages


def check_person(work: Work, user: User) -> None:
    if not user.is_active:
        raise Refused([DISABLED])
    if work.settings.confirm_email and user.email and user.confirmed_at is None:
        raise Refused([NOT_YET_CONFIRMED])
    if user.approved_at is None:
        raise Refused([NOT_YET_APPROVED])


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """What policies are told about the way in, each under a name that begins with `oauth_`."""

    scopes: list[str]
    grant_type: str
    redirect_uri: str = ""
    response_type: str = ""
    code_challenge: str = ""
    code_challenge_method: str = ""
    max_age: int | None = None

    def context(self) -> dict[str, Any]:
        return {f"oauth_{name}": getattr(self, name) for name in self.__struct_fields__}


async def check_policies(work: Work, client: Client, user: User, entry: Entry) -> None:
    """Ask whatever is bound to the application; a no is written down. Before this work's first write."""
    context = entry.context() | {"is_sso": True}
    if client.application is not None:
        application = client.application
        context["application"] = {"pk": application.pbm_uuid, "name": application.name, "slug": application.slug}
    verdict = await access.ask(work, client, user.id, context)
    if verdict.passing:
        return
    messages = verdict.messages or [NOT_ALLOWED]
    await _write_down(work, client, user, " ".join(messages), entry)
    raise Refused(messages)


async def _write_down(work: Work, client: Client, user: User, reason: str, entry: Entry) -> None:
    """Beside this work, which ends in a refusal."""
    async with work.aside() as aside:
        await audit.record(
            aside, "authorization_refused", "providers.oauth2", user_id=user.id, username=user.username,
            context={"authorized_application": model_of(client), "reason": reason[:1000], "scopes": entry.scopes,
                     "grant_type": entry.grant_type, "client": client.client_id},
        )  # fmt: skip


def model_of(client: Client) -> dict[str, Any]:
    """A client as the audit trail names it."""
    if client.application is not None and client.app_id is None:
        application = client.application
        return {"app": "core", "model_name": "application", "pk": application.pbm_uuid, "name": application.name}
    if client.app_id is not None:
        return {"app": "providers", "model_name": "app", "pk": str(client.app_id), "name": client.name}
    return {"app": "providers", "model_name": "provider", "pk": client.provider_id, "name": client.name}
