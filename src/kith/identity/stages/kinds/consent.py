"""Asks whether the application may have what it asks for, and remembers the answer for as long as it says."""

from __future__ import annotations

import hmac
import secrets
import uuid
from datetime import timedelta
from typing import Any

from kith.identity.consents import store
from kith.identity.consents.tables import Consent
from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.impersonation.service import NotAsSomebodyElse
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Choice, Offset, read_offset
from kith.identity.stages.turn import PASSED, Act, Challenge, Denied, Outcome, Turn

FIELDS = (
    Choice(name="mode", default="always_require", choices=("always_require", "permanent", "expiring")),
    Offset(name="consent_expire_in", default="weeks=4", least=1, help="How long an answer holds in mode expiring."),
)

RESOURCE = Resource(
    path="/stages/consent/",
    record="ConsentStage",
    key="stage_uuid",
    family=STAGES,
    kind="consent",
    table=kind_table("identity_stages_consent", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "mode", "consent_expire_in"),
    removing=forget_stage,
)


async def show(turn: Turn) -> Outcome:
    asked: list[dict[str, str]] = turn.context.get("consent_permissions") or []
    given, insists = await _given(turn), bool(turn.context.get("consent_ask"))
    known = set(given.permissions) if given is not None else set()
    if not insists and (_mode(turn) == "never" or (given is not None and all(one["id"] in known for one in asked))):
        return PASSED
    if turn.held.session.by_id is not None:
        return Denied(NotAsSomebodyElse.message, "consent as somebody else")
    application = turn.context.get("application") or {}
    token = turn.context["_consent_token"] = secrets.token_urlsafe(24)
    header = turn.context.get("consent_header")
    name = application.get("name", "")
    return Challenge(
        "consent",
        {
            "header_text": header or (f"{name} asks for these permissions:" if name else "Please confirm."),
            "application": name,
            "permissions": [one for one in asked if given is None or one["id"] in known],
            "additional_permissions": [one for one in asked if given is not None and one["id"] not in known],
            "token": token,
        },
    )


def _mode(turn: Turn) -> str:
    """As whoever led here has it (`never` is theirs alone), else as the stage has it."""
    return str(turn.context.get("consent_mode") or turn.stage["mode"])


async def _given(turn: Turn) -> Consent | None:
    """What was allowed before and still holds; nothing where every time is asked."""
    application = turn.context.get("application") or {}
    user_id = turn.context.get("pending_user")
    if _mode(turn) in ("always_require", "never") or user_id is None or "pk" not in application:
        return None
    return await store.find(turn.work.db, user_id, application["pk"], turn.work.now)


async def take(turn: Turn, answer: dict[str, Any]) -> Outcome:
    """Only the page that was shown last can be answered, and it once."""
    expected = str(turn.context.pop("_consent_token", ""))
    sent = answer.get("token")
    if (
        not expected
        or not isinstance(sent, str)
        or not hmac.compare_digest(expected.encode(), sent.encode("utf-8", "replace"))
    ):
        shown = await show(turn)
        words = "This page is out of date. Please answer again."
        return shown.complain("token", words) if isinstance(shown, Challenge) else shown
    await _remember(turn)
    turn.context["consent"] = True
    return PASSED


async def _remember(turn: Turn) -> None:
    application = turn.context.get("application") or {}
    user_id, mode = turn.context.get("pending_user"), _mode(turn)
    if mode in ("always_require", "never") or user_id is None or "pk" not in application:
        return
    before = await store.find(turn.work.db, user_id, application["pk"], turn.work.now)
    asked = [one["id"] for one in turn.context.get("consent_permissions") or []]
    life = read_offset(turn.stage["consent_expire_in"]) or 0
    consent = Consent(
        consent_uuid=str(uuid.uuid4()), user_id=user_id, application=application["pk"],
        permissions=sorted({*asked, *(before.permissions if before else ())}), created_at=turn.work.now,
        expires_at=turn.work.now + timedelta(seconds=life) if mode == "expiring" else None,
    )  # fmt: skip
    await store.save(turn.work.db, consent)


ACT = Act("consent", show, take)
