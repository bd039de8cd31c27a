"""Asks who is there, by username, by address or through a source, and never tells whether an account exists."""

from __future__ import annotations

import base64
import binascii
from datetime import timedelta
from typing import Any

import structlog
from sqlalchemy import bindparam, select

from kith.base.db import UID, query
from kith.identity.factors import passkeys
from kith.identity.flows.plan import slug_of
from kith.identity.flows.resources import bindings, flows, forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.guessing import allowance as guessing
from kith.identity.policies import scores
from kith.identity.rest import Draft, Resource, kind_table, link_table
from kith.identity.rest.fields import Boolean, Choice, Choices, Reference, References
from kith.identity.sources.offered import offered
from kith.identity.stages import browser_marks
from kith.identity.stages.admission import refused
from kith.identity.stages.kinds import captcha
from kith.identity.stages.password_check import model, try_password, write_failure
from kith.identity.stages.turn import PASSED, Act, Challenge, Denied, Outcome, Turn
from kith.identity.users import store as users
from kith.identity.users.tables import User

_FLOW = "identity_flows.flow_uuid"
_STAGE = "identity_stages.stage_uuid"

identification_sources = link_table("identity_stages_identification_sources", _STAGE, "identity_sources.pbm_uuid")

FIELDS = (
    Choices(name="user_fields", required=True, choices=("email", "username", "upn")),
    Choice(
        name="template",
        required=True,
        choices=("login", "recovery"),
        also={f"stages/identification/{name}.html": name for name in ("login", "recovery")},
    ),
    Reference(name="enrollment_flow", null=True, to=_FLOW, where=(("designation", "enrollment"),)),
    Reference(name="recovery_flow", null=True, to=_FLOW, where=(("designation", "recovery"),)),
    Reference(name="passwordless_flow", null=True, to=_FLOW, where=(("designation", "authentication"),)),
    Reference(name="password_stage", null=True, to=_STAGE, where=(("kind", "password"),)),
    Reference(name="captcha_stage", null=True, to=_STAGE, where=(("kind", "captcha"),)),
    Reference(name="webauthn_stage", null=True, to=_STAGE, where=(("kind", "otpvalidate"),)),
    Boolean(name="case_insensitive_matching", default=True),
    Boolean(name="show_matched_user", default=True, help="False: show what was typed, not who was found."),
    Boolean(name="pretend_user_exists", default=True, help="Go on for unknown names, so that nobody learns of them."),
    Boolean(name="enable_remember_me", default=False),
    References(name="sources", to="identity_sources.pbm_uuid", link=identification_sources, most=100),
    Boolean(name="show_source_labels", default=False),
)


async def check(draft: Draft) -> None:
    touched = draft.sets("user_fields") or draft.sets("sources")
    if touched and not draft.now("user_fields") and not draft.now("sources"):
        draft.complain("", "When no user fields are selected, at least one source must be selected.")


_stages = kind_table("identity_stages_identification", STAGES, FIELDS)
RESOURCE = Resource(
    path="/stages/identification/",
    record="IdentificationStage",
    key="stage_uuid",
    family=STAGES,
    kind="identification",
    table=_stages,
    fields=FIELDS,
    exact=("name", "template", "enrollment_flow", "recovery_flow", "passwordless_flow", "password_stage"),
    prepare=check,
    removing=forget_stage,
)

_recovery = query(
    select(flows.c.slug)
    .join(_stages, _stages.c.recovery_flow == flows.c.flow_uuid)
    .join(bindings, bindings.c.stage == _stages.c.stage_uuid)
    .where(bindings.c.flow == bindparam("flow", type_=UID()))
    .limit(1),
    str,
)


UNKNOWN = "Failed to authenticate."
NAME_COOKIE = "kith_name"
NAME_KEPT = timedelta(days=30)
_LINKS = {"enroll_url": "enrollment_flow", "recovery_url": "recovery_flow", "passwordless_url": "passwordless_flow"}
_log = structlog.get_logger()


async def show(turn: Turn) -> Outcome:
    return await _challenge(turn)


async def _challenge(turn: Turn) -> Challenge:
    stage = turn.stage
    fields: dict[str, Any] = {
        "user_fields": stage["user_fields"],
        "password_fields": stage["password_stage"] is not None,
        "flow_designation": turn.flow.designation,
        "primary_action": "Continue" if turn.flow.designation == "recovery" else "Log in",
        "sources": await offered(turn.work, stage["sources"]),
        "show_source_labels": stage["show_source_labels"],
        "enable_remember_me": stage["enable_remember_me"],
        "pending_user_identifier": _known_name(turn),
    }
    password_stage = await _password_stage(turn)
    if password_stage is not None:
        fields["allow_show_password"] = password_stage["allow_show_password"]
    application = turn.context.get("application")
    if isinstance(application, dict) and application.get("name"):
        fields["application_pre"] = application["name"]
    if stage["captcha_stage"] is not None:
        asked = await turn.find_stage("captcha", stage["captcha_stage"])
        fields["captcha_stage"] = captcha.offer(turn, asked) if asked is not None else None
    if stage["webauthn_stage"] is not None:
        challenge = turn.context["_asserting"] = passkeys.new_challenge()
        fields["passkey_challenge"] = await passkeys.request(turn.work, (), challenge, verification="required")
    for name, flow in _LINKS.items():
        slug = await slug_of(turn.work, stage[flow])
        if slug is not None:
            fields[name] = f"/flows/{slug}/"
    return Challenge("identification", fields)


def _known_name(turn: Turn) -> str | None:
    """What was typed before on this walk, what a link says, or what this browser was told to remember."""
    known = turn.context.get("pending_user_identifier") or turn.plan.query.get("login_hint")
    if known or not turn.stage["enable_remember_me"]:
        return known or None
    try:
        return base64.urlsafe_b64decode(browser_marks.carried(turn.exchange, NAME_COOKIE)[:600]).decode() or None
    except (binascii.Error, ValueError):
        return None


async def take(turn: Turn, answer: dict[str, Any]) -> Outcome:
    given, asked, work = answer.get("uid_field"), turn.context.pop("_asserting", None), turn.context.pop("_work", None)
    challenge = await _challenge(turn)
    if answer.get("passkey") is not None:
        return await _take_passkey(turn, challenge, asked, answer["passkey"])
    if not isinstance(given, str) or not given.strip():
        return challenge.complain("uid_field", "This field may not be blank.", "blank")
    if not await _is_captcha_right(turn, challenge, work, answer):
        return challenge
    given = given.strip()[:320]
    user = await _find(turn, given)
    turn.context["pending_user_identifier"] = given
    password_stage = await _password_stage(turn)
    if password_stage is not None:
        right = await try_password(turn, user, given, str(answer.get("password", "")), password_stage)
        if isinstance(right, Denied):
            return right
        if not right:
            return challenge.complain("non_field_errors", UNKNOWN)
    elif user is None and not turn.stage["pretend_user_exists"]:
        await scores.change(turn.work, identifier=given, ip=turn.exchange.address, by=-1)
        return challenge.complain("uid_field", UNKNOWN)
    _remember(turn, given, answer)
    turn.context["pending_user"] = user.id if user is not None else None
    return PASSED


async def _password_stage(turn: Turn) -> dict[str, Any] | None:
    named = turn.stage["password_stage"]
    return await turn.find_stage("password", named) if named is not None else None


async def _is_captcha_right(turn: Turn, challenge: Challenge, asked: str | None, answer: dict[str, Any]) -> bool:
    """Looked at before anybody is looked up, so that no program can try names."""
    named = turn.stage["captcha_stage"]
    stage = await turn.find_stage("captcha", named) if named is not None else None
    if stage is None:
        return True
    wrong = await captcha.complain(turn, stage, named, asked, answer.get("captcha_token"))
    if wrong is not None:
        challenge.complain("captcha_token", wrong, wrong.code)
    return wrong is None


def _remember(turn: Turn, given: str, answer: dict[str, Any]) -> None:
    """Only the name as it was typed, and only in this browser."""
    if not turn.stage["enable_remember_me"]:
        return
    if answer.get("remember_me") in (True, "true", "on", "1"):
        kept = base64.urlsafe_b64encode(given.encode("utf-8", "replace")).decode()
        browser_marks.hand_out(turn, NAME_COOKIE, kept, NAME_KEPT)
    elif browser_marks.carried(turn.exchange, NAME_COOKIE):
        browser_marks.hand_out(turn, NAME_COOKIE, "", timedelta(0))


async def _take_passkey(turn: Turn, challenge: Challenge, asked: str | None, sent: Any) -> Outcome:
    """The device says who is there, and has made sure of it itself: nothing else needs to be asked."""
    if turn.stage["webauthn_stage"] is None or asked is None:
        return challenge.complain("passkey", UNKNOWN)
    paid = await guessing.pay_for_key(turn.exchange)
    try:
        device = await passkeys.verify(turn.work, asked, sent, verified=True)
    except passkeys.Refused as error:
        _log.info("webauthn.refused", reason=str(error))
        owner = await passkeys.owner_of(turn.work, sent)
        name = owner.username if owner is not None else ""
        await write_failure(turn.work, turn, owner, name, model("identificationstage", turn.stage))
        return challenge.complain("passkey", UNKNOWN)
    await paid.give_back(turn.work.db)
    user = await users.find_by_id(turn.work.db, device.user_id)
    if user is None:
        return challenge.complain("passkey", UNKNOWN)
    refusal = await refused(turn, user, has_written=True)
    if refusal is not None:
        return refusal
    turn.context.pop("_asserting", None)
    turn.context["pending_user"] = user.id
    turn.context["pending_user_identifier"] = user.username
    turn.context["auth_method"] = "auth_webauthn_pwl"
    turn.context["auth_method_args"] = {"device": {"pk": device.device_uuid, "name": device.name}}
    return PASSED


async def _find(turn: Turn, given: str) -> User | None:
    """By an address that counts, then by name: whoever owns an address is found by it, whatever others are called."""
    if "\0" in given:
        return None
    ways = turn.stage["user_fields"]
    found = await users.find_typed(turn.work.db, given, by_name="username" in ways, by_address="email" in ways)
    if found is None and "upn" in ways:
        found = await users.with_upn(turn.work.db, given)
    if found is not None and not turn.stage["case_insensitive_matching"]:
        return found if given in (found.username, found.email, found.attributes.get("upn")) else None
    return found


async def recovery_url(turn: Turn) -> str | None:
    """Where whoever has forgotten their password goes: what this flow's identification stage names."""
    slug = await turn.work.db.one(_recovery, flow=turn.flow.flow_uuid)
    return f"/flows/{slug}/" if slug is not None else None


ACT = Act("identification", show, take)
