"""Asks for a username or address, or offers sources. It does not reveal whether an account exists."""

from __future__ import annotations

import base64
import binascii
from datetime import timedelta
from typing import Any

import msgspec

from kith.base.counted_log import log_counted
from kith.identity.factors import passkeys
from kith.identity.flows.plan import slug_of
from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.guessing import guess_limits as guessing
from kith.identity.policies import reputation_scores
from kith.identity.rest import RecordDraft, Resource, kind_table, link_table
from kith.identity.rest.fields import Boolean, Choice, Choices, Reference, References
from kith.identity.stages import browser_marks
from kith.identity.stages.admission import find_denial
from kith.identity.stages.kinds import captcha, password
from kith.identity.stages.kinds.password import PasswordStage
from kith.identity.stages.password_check import model, try_password, write_failure
from kith.identity.stages.sign_in_sources import SignInSources
from kith.identity.stages.turn import PASSED, Challenge, Denied, Outcome, StageKind, Turn
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
    Reference(name="password_stage", null=True, to=_STAGE, on_delete="RESTRICT", where=(("kind", "password"),)),
    Reference(name="captcha_stage", null=True, to=_STAGE, on_delete="RESTRICT", where=(("kind", "captcha"),)),
    Reference(name="webauthn_stage", null=True, to=_STAGE, where=(("kind", "otpvalidate"),)),
    Boolean(name="case_insensitive_matching", default=True),
    Boolean(name="show_matched_user", default=True, help="False: show what was typed, not who was found."),
    Boolean(name="pretend_user_exists", default=True, help="Go on for unknown names, so that nobody learns of them."),
    Boolean(name="enable_remember_me", default=False),
    References(name="sources", to="identity_sources.pbm_uuid", link=identification_sources, most=100),
    Boolean(name="show_source_labels", default=False),
)


class IdentificationStage(StageRecord, kw_only=True):
    user_fields: list[str]
    template: str
    enrollment_flow: str | None
    recovery_flow: str | None
    passwordless_flow: str | None
    password_stage: str | None
    captcha_stage: str | None
    webauthn_stage: str | None
    case_insensitive_matching: bool
    show_matched_user: bool
    pretend_user_exists: bool
    enable_remember_me: bool
    sources: list[str] = msgspec.field(default_factory=list)
    show_source_labels: bool


async def check(draft: RecordDraft[IdentificationStage]) -> None:
    touched = draft.sets("user_fields") or draft.sets("sources")
    if touched and not draft.now.user_fields and not draft.now.sources:
        draft.complain("", "When no user fields are selected, at least one source must be selected.")


_stages = kind_table("identity_stages_identification", STAGES, FIELDS)
RESOURCE = Resource(
    path="/stages/identification/",
    name="IdentificationStage",
    record=IdentificationStage,
    key="stage_uuid",
    family=STAGES,
    kind="identification",
    table=_stages,
    fields=FIELDS,
    exact=("name", "template", "enrollment_flow", "recovery_flow", "passwordless_flow", "password_stage"),
    prepare=check,
)

UNKNOWN = "Failed to authenticate."
NAME_COOKIE = "kith_name"
NAME_KEPT = timedelta(days=30)


async def show(turn: Turn[IdentificationStage]) -> Outcome:
    return await _challenge(turn)


async def _challenge(turn: Turn[IdentificationStage]) -> Challenge:
    stage = turn.stage
    fields: dict[str, Any] = {
        "user_fields": stage.user_fields,
        "password_fields": stage.password_stage is not None,
        "flow_designation": turn.flow.designation,
        "primary_action": "Continue" if turn.flow.designation == "recovery" else "Log in",
        "sources": await _sources(turn),
        "show_source_labels": stage.show_source_labels,
        "enable_remember_me": stage.enable_remember_me,
        "pending_user_identifier": _known_name(turn),
    }
    password_stage = await _password_stage(turn)
    if password_stage is not None:
        fields["allow_show_password"] = password_stage.allow_show_password
    application = turn.context.application
    if isinstance(application, dict) and application.get("name"):
        fields["application_pre"] = application["name"]
    if stage.captcha_stage is not None:
        asked = await turn.find_stage(captcha.STAGE.records, stage.captcha_stage)
        fields["captcha_stage"] = captcha.offer(turn, asked) if asked is not None else None
    if stage.webauthn_stage is not None:
        challenge = turn.context.assertion_challenge = passkeys.new_challenge()
        fields["passkey_challenge"] = await passkeys.request(turn.work, (), challenge, verification="required")
    flows = (
        ("enroll_url", stage.enrollment_flow),
        ("recovery_url", stage.recovery_flow),
        ("passwordless_url", stage.passwordless_flow),
    )
    for name, flow in flows:
        slug = await slug_of(turn.work, flow)
        if slug is not None:
            fields[name] = f"/flows/{slug}/"
    return Challenge("identification", fields)


async def _sources(turn: Turn[IdentificationStage]) -> list[dict[str, Any]]:
    """The sources to sign in through; whoever takes one comes back to where this page leads."""
    if not turn.stage.sources:
        return []
    known = {name: turn.plan.query[name] for name in ("next", "again") if turn.plan.query.get(name)}
    return await turn.work.find(SignInSources).offered(turn.work, turn.stage.sources, known)  # type: ignore[type-abstract]


def _known_name(turn: Turn[IdentificationStage]) -> str | None:
    """The name typed earlier in this run, the `login_hint`, or the one remembered in this browser."""
    known = turn.context.pending_user_identifier or turn.plan.query.get("login_hint")
    if known or not turn.stage.enable_remember_me:
        return known or None
    try:
        return base64.urlsafe_b64decode(browser_marks.carried(turn.exchange, NAME_COOKIE)[:600]).decode() or None
    except (binascii.Error, ValueError):
        return None


async def take(turn: Turn[IdentificationStage], answer: dict[str, Any]) -> Outcome:
    given, context = answer.get("uid_field"), turn.context
    asked, context.assertion_challenge = context.assertion_challenge, None
    work, context.captcha_challenge = context.captcha_challenge, None
    challenge = await _challenge(turn)
    if answer.get("passkey") is not None:
        return await _take_passkey(turn, challenge, asked, answer["passkey"])
    if not isinstance(given, str) or not given.strip():
        return challenge.complain("uid_field", "This field may not be blank.", "blank")
    if not await _is_captcha_right(turn, challenge, work, answer):
        return challenge
    given = given.strip()[:320]
    user = await _find(turn, given)
    if user is None or user.id != context.user_id:
        context.turn_to(None)
    context.pending_user_identifier = given
    password_stage = await _password_stage(turn)
    if password_stage is not None:
        right = await try_password(turn, user, given, str(answer.get("password", "")), password_stage)
        if isinstance(right, Denied):
            return right
        if not right:
            return challenge.complain("non_field_errors", UNKNOWN)
    elif user is None and not turn.stage.pretend_user_exists:
        await reputation_scores.change(turn.work, identifier=given, ip=turn.exchange.address, by=-1)
        return challenge.complain("uid_field", UNKNOWN)
    _remember(turn, given, answer)
    context.pending_user = user.id if user is not None else None
    return PASSED


async def _password_stage(turn: Turn[IdentificationStage]) -> PasswordStage | None:
    return await turn.find_stage(password.STAGE.records, turn.stage.password_stage)


async def _is_captcha_right(
    turn: Turn[IdentificationStage], challenge: Challenge, asked: str | None, answer: dict[str, Any]
) -> bool:
    """Checked before the user is looked up, so that programs cannot try names."""
    stage = await turn.find_stage(captcha.STAGE.records, turn.stage.captcha_stage)
    if stage is None:
        return True
    wrong = await captcha.complain(turn, stage, asked, answer.get("captcha_token"))
    if wrong is not None:
        challenge.complain("captcha_token", wrong, wrong.code)
    return wrong is None


def _remember(turn: Turn[IdentificationStage], given: str, answer: dict[str, Any]) -> None:
    """Store the typed name in a cookie, or delete it."""
    if not turn.stage.enable_remember_me:
        return
    if answer.get("remember_me") in (True, "true", "on", "1"):
        kept = base64.urlsafe_b64encode(given.encode("utf-8", "replace")).decode()
        browser_marks.hand_out(turn, NAME_COOKIE, kept, NAME_KEPT)
    elif browser_marks.carried(turn.exchange, NAME_COOKIE):
        browser_marks.hand_out(turn, NAME_COOKIE, "", timedelta(0))


async def _take_passkey(turn: Turn[IdentificationStage], challenge: Challenge, asked: str | None, sent: Any) -> Outcome:
    """Sign in by a passkey with user verification, which replaces name, password and second factor."""
    if turn.stage.webauthn_stage is None or asked is None:
        return challenge.complain("passkey", UNKNOWN)
    paid = await guessing.pay_for_key(turn.exchange)
    try:
        device = await passkeys.verify(turn.work, asked, sent, verified=True)
    except passkeys.PasskeyRejected as error:
        log_counted("info", "webauthn.refused", type(error).__name__, reason=str(error)[:300])
        owner = await passkeys.owner_of(turn.work, sent)
        name = owner.username if owner is not None else ""
        await write_failure(turn.work, turn, owner, name, model("identificationstage", turn.stage))
        return challenge.complain("passkey", UNKNOWN)
    await paid.give_back(turn.work.db)
    user = await users.find_by_id(turn.work.db, device.user_id)
    if user is None:
        return challenge.complain("passkey", UNKNOWN)
    refusal = await find_denial(turn, user, has_written=True)
    if refusal is not None:
        return refusal
    turn.context.turn_to(user.id)
    turn.context.assertion_challenge = None
    turn.context.pending_user_identifier = user.username
    turn.context.auth_method = "auth_webauthn_pwl"
    turn.context.auth_method_args = {"device": {"pk": device.device_uuid, "name": device.name}}
    return PASSED


async def _find(turn: Turn[IdentificationStage], given: str) -> User | None:
    """By confirmed address first, then by name: the owner of an address is found even if it is another's name."""
    if "\0" in given:
        return None
    ways = turn.stage.user_fields
    found = await users.find_typed(turn.work.db, given, by_name="username" in ways, by_address="email" in ways)
    if found is None and "upn" in ways:
        found = await users.with_upn(turn.work.db, given)
    if found is not None and not turn.stage.case_insensitive_matching:
        return found if given in (found.username, found.email, found.attributes.get("upn")) else None
    return found


STAGE = StageKind(RESOURCE, show, take)
