"""Asks for consent to an application's permissions, and stores it as long as its mode says."""

from __future__ import annotations

import hmac
import secrets
import uuid
from datetime import timedelta
from typing import Any

from kith.identity.consents import store
from kith.identity.consents.asking_clients import AskingClients
from kith.identity.consents.tables import Consent
from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.impersonation.service import NotAsSomebodyElse
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Choice, Offset, read_offset
from kith.identity.stages.turn import PASSED, Challenge, Denied, Outcome, StageKind, Turn

# Addresses that a client which registered itself has given of itself.
_ABOUT_CLIENT = ("logo_uri", "policy_uri", "tos_uri")

FIELDS = (
    Choice(name="mode", default="always_require", choices=("always_require", "permanent", "expiring")),
    Offset(name="consent_expire_in", default="weeks=4", least=1, help="How long an answer holds in mode expiring."),
)


class ConsentStage(StageRecord, kw_only=True):
    mode: str
    consent_expire_in: str


RESOURCE = Resource(
    path="/stages/consent/",
    name="ConsentStage",
    record=ConsentStage,
    key="stage_uuid",
    family=STAGES,
    kind="consent",
    table=kind_table("identity_stages_consent", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "mode", "consent_expire_in"),
)


async def show(turn: Turn[ConsentStage]) -> Outcome:
    asked: list[dict[str, str]] = turn.context.consent_permissions or []
    given, insists = await _given(turn), bool(turn.context.consent_ask)
    known = set(given.permissions) if given is not None else set()
    if not insists and (_mode(turn) == "never" or (given is not None and all(one["id"] in known for one in asked))):
        return PASSED
    if turn.held.session.by_id is not None:
        return Denied(NotAsSomebodyElse.message, "consent as somebody else")
    application = turn.context.application or {}
    token = turn.context.consent_token = secrets.token_urlsafe(24)
    header = turn.context.consent_header
    name = application.get("name", "")
    return Challenge(
        "consent",
        {
            "header_text": header or (f"{name} asks for these permissions:" if name else "Please confirm."),
            "application": name,
            **{fact: application[fact] for fact in _ABOUT_CLIENT if fact in application},
            "permissions": [one for one in asked if given is None or one["id"] in known],
            "additional_permissions": [one for one in asked if given is not None and one["id"] not in known],
            "token": token,
        },
    )


def _mode(turn: Turn[ConsentStage]) -> str:
    """The mode that the client requires (only clients can say `never`), else the stage's."""
    return str(turn.context.consent_mode or turn.stage.mode)


async def _given(turn: Turn[ConsentStage]) -> Consent | None:
    """A stored consent that is still valid; None in modes that store none."""
    application = turn.context.application or {}
    user_id = turn.context.user_id
    if _mode(turn) in ("always_require", "never") or user_id is None or "pk" not in application:
        return None
    return await store.find(turn.work.db, user_id, application["pk"], turn.work.now, app_id=_app_id(application))


def _app_id(application: dict[str, Any]) -> int | None:
    """A client that registered itself with the application is asked about for itself."""
    told = application.get("app_id")
    return int(told) if told is not None else None


async def take(turn: Turn[ConsentStage], answer: dict[str, Any]) -> Outcome:
    """Only the page that was shown last can be answered, and only once."""
    expected, turn.context.consent_token = turn.context.consent_token or "", None
    sent = answer.get("token")
    if (
        not expected
        or not isinstance(sent, str)
        or not hmac.compare_digest(expected.encode(), sent.encode("utf-8", "replace"))
    ):
        shown = await show(turn)
        words = "This page is out of date. Please answer again."
        return shown.complain("token", words) if isinstance(shown, Challenge) else shown
    if await _is_about_whom_they_saw(turn):
        await _remember(turn)
    turn.context.consent = True
    return PASSED


async def _is_about_whom_they_saw(turn: Turn[ConsentStage]) -> bool:
    """False if the client became another while they looked at the page: it does not get past the end of the flow, and
    asks them anew."""
    client_id, identity = (turn.context.application or {}).get("client_id"), turn.context.consent_client
    if client_id is None or identity is None:
        return True
    clients = turn.work.find(AskingClients)  # type: ignore[type-abstract]
    return await clients.is_still(turn.work, client_id, identity)


async def _remember(turn: Turn[ConsentStage]) -> None:
    application = turn.context.application or {}
    user_id, mode = turn.context.user_id, _mode(turn)
    if mode in ("always_require", "never") or user_id is None or "pk" not in application:
        return
    app_id = _app_id(application)
    before = await store.find(turn.work.db, user_id, application["pk"], turn.work.now, app_id=app_id)
    asked = [one["id"] for one in turn.context.consent_permissions or []]
    life = read_offset(turn.stage.consent_expire_in) or 0
    consent = Consent(
        consent_uuid=str(uuid.uuid4()),
        user_id=user_id,
        application=application["pk"],
        permissions=sorted({*asked, *(before.permissions if before else ())}),
        created_at=turn.work.now,
        expires_at=turn.work.now + timedelta(seconds=life) if mode == "expiring" else None,
        app_id=app_id,
    )
    await store.save(turn.work.db, consent)


STAGE = StageKind(RESOURCE, show, take)
