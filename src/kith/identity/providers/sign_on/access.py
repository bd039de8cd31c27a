"""Whether a person may enter an application: their state, and the application's policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from kith.base.limits import LimitRule
from kith.base.work import Work
from kith.identity.access_requests import store as offers
from kith.identity.audit import service as audit
from kith.identity.expressions import subjects
from kith.identity.policies.engine import evaluate_target
from kith.identity.policies.request import PolicyRequest, PolicyVerdict
from kith.identity.providers.sign_on.applications import ClientApplication
from kith.identity.refusals import service as refusals
from kith.identity.sessions.tables import LoginSession
from kith.identity.users.tables import User

# How often one person enters applications: each time leaves a grant and an event behind.
ENTRIES = LimitRule("sign_on.entries", most=120, seconds=300)
NOT_YET_CONFIRMED = "Please confirm your e-mail address first: follow the link in the message we sent you."
NOT_YET_APPROVED = "Your account has not been approved yet. You will get a message once it is."
DISABLED = "Your account is disabled."
NOT_ALLOWED = "You may not use this application."
CAN_ASK = "You can ask for access in your settings, at “Access on request”."
NOT_YOU = "This is not available while you are viewing as another person"


class AccessDenied(Exception):  # noqa: N818 - an answer
    """The person may not enter; the messages say why, as far as the policies do.

    The refusal is stored already; `code` is what staff find it by.
    """

    def __init__(self, messages: list[str], code: str) -> None:
        super().__init__(" ".join(messages))
        self.messages = messages
        self.code = code


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one attempt to enter: for policies (`context`), staff (`details`) and the audit trail."""

    area: str
    app: str
    context: Mapping[str, Any]
    details: Mapping[str, Any]
    recorded: Mapping[str, Any]


def why_not(work: Work, user: User, session: LoginSession) -> str | None:
    """Why this person may enter nothing at the moment, whatever the policies say; None if they may."""
    if session.by_id is not None:
        return NOT_YOU
    if not user.is_active:
        return DISABLED
    if work.settings.confirm_email and user.email and user.confirmed_at is None:
        return NOT_YET_CONFIRMED
    return NOT_YET_APPROVED if user.approved_at is None else None


async def ask_policies(
    work: Work,
    application: ClientApplication | None,
    user_id: int | None,
    context: Mapping[str, Any],
    *,
    address: str | None = None,
) -> tuple[PolicyVerdict, PolicyRequest]:
    """The verdict of the application's policies; a provider without an application lets nobody in.

    Call it before the work's first write. `address` is where the person was last seen, if it is not their request.
    """
    request = PolicyRequest(context=dict(context), client_ip=work.origin.address if address is None else address)
    request.person = await subjects.find(work, user_id) if user_id is not None else None
    if application is None:
        return PolicyVerdict(passing=False, messages=["This provider does not belong to an application."]), request
    request.target = application.pbm_uuid
    mode = application.policy_engine_mode
    return await evaluate_target(work, request.target, request, "any" if mode == "any" else "all"), request


def policy_context(application: ClientApplication | None) -> dict[str, Any]:
    """What the application's policies know of every attempt."""
    context: dict[str, Any] = {"is_sso": True}
    if application is not None:
        context["application"] = {"pk": application.pbm_uuid, "name": application.name, "slug": application.slug}
    return context


async def check_person(work: Work, user: User, session: LoginSession, entry: Entry) -> None:
    """Raise `AccessDenied` if this person may enter nothing. Call it before the work's first write."""
    reason = why_not(work, user, session)
    if reason is None:
        return
    async with work.aside() as aside:
        code = await refusals.refuse(
            aside, area=entry.area, message=reason, reason=reason, details=entry.details, user=user
        )
        await record_refusal(aside, entry, user, reason, code)
    raise AccessDenied([reason], code)


async def refuse_by_verdict(
    work: Work, verdict: PolicyVerdict, request: PolicyRequest, user: User | None, entry: Entry
) -> AccessDenied:
    """Store the refusal of the policies, beside this work, which ends in it."""
    messages = verdict.messages or sentence(NOT_ALLOWED)
    if user is not None and request.target is not None and await offers.is_offered(work.db, request.target):
        messages = [*messages, *sentence(CAN_ASK)]
    reason = " ".join(messages)
    async with work.aside() as aside:
        code = await refusals.refuse_by_policy(
            aside, verdict, request, area=entry.area, message=reason, details=entry.details
        )
        await record_refusal(aside, entry, user, reason, code)
    return AccessDenied(messages, code)


def sentence(words: str) -> list[str]:
    return [words]


async def record_refusal(work: Work, entry: Entry, user: User | None, reason: str, code: str) -> None:
    await audit.record(
        work,
        "authorization_refused",
        entry.app,
        user_id=user.id if user is not None else None,
        username=user.username if user is not None else "",
        context={**entry.recorded, "reason": reason[:1000], "refusal": code},
    )
