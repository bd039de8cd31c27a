"""Asks for the second factor."""

from __future__ import annotations

import math
from typing import Any

import msgspec
from sqlalchemy import select

from kith.base.counted_log import log_counted
from kith.base.db import any_of, query
from kith.identity.audit import service as audit
from kith.identity.factors import passkeys, service, store
from kith.identity.factors.tables import Factor
from kith.identity.flows.plan import Step
from kith.identity.flows.stages import STAGES, StageRecord, stages
from kith.identity.guessing import guess_limits as guessing
from kith.identity.policies import reputation_scores
from kith.identity.rest import RecordDraft, Resource, kind_table, link_table
from kith.identity.rest.fields import Choice, Choices, Number, Offset, References, missing, read_offset
from kith.identity.stages import browser_marks, factor_setup
from kith.identity.stages.all_stages import VERBOSE_NAMES
from kith.identity.stages.password_check import model
from kith.identity.stages.turn import PASSED, Challenge, Denied, Outcome, Passed, StageKind, Turn
from kith.identity.users.tables import User

CLASSES = ("static", "totp", "webauthn", "duo", "sms", "email")
_STAGE = "identity_stages.stage_uuid"

configuration_stages = link_table("identity_stages_otp_validate_configuration", _STAGE, _STAGE)

FIELDS = (
    Choice(
        name="not_configured_action",
        default="skip",
        choices=("skip", "deny", "configure"),
        help="What happens to people who have no device.",
    ),
    Choices(name="device_classes", default=lambda: list(CLASSES), choices=CLASSES),
    References(
        name="configuration_stages",
        to=_STAGE,
        link=configuration_stages,
        most=100,
        help="What people may choose from when they must set something up.",
    ),
    Offset(name="last_auth_threshold", default="seconds=0", least=0, help="Skip when a device was used that recently."),
    Choice(name="webauthn_user_verification", default="preferred", choices=("required", "preferred", "discouraged")),
    Choices(name="webauthn_hints", choices=("security-key", "client-device", "hybrid")),
    Number(name="totp_otp_throttling_factor", default=1.0, least=0, help="Seconds, doubled with every failure."),
    Number(name="static_otp_throttling_factor", default=1.0, least=0, help="Seconds, doubled with every failure."),
)


class OTPValidateStage(StageRecord, kw_only=True):
    not_configured_action: str
    device_classes: list[str]
    configuration_stages: list[str] = msgspec.field(default_factory=list)
    last_auth_threshold: str
    webauthn_user_verification: str
    webauthn_hints: list[str]
    totp_otp_throttling_factor: float
    static_otp_throttling_factor: float


_kinds = query(select(stages.c.stage_uuid, stages.c.kind).where(any_of(stages.c.stage_uuid, "ids")), tuple)


async def check(draft: RecordDraft[OTPValidateStage]) -> None:
    touched = draft.sets("not_configured_action") or draft.sets("configuration_stages")
    if touched and draft.now.not_configured_action == "configure" and not draft.now.configuration_stages:
        draft.complain("configuration_stages", "Needed when not_configured_action is configure.", "required")
    if draft.sets("configuration_stages"):
        given = draft.now.configuration_stages
        kinds: dict[str, str] = dict(await draft.work.db.all(_kinds, ids=given))
        unfit = [stage for stage in given if kinds.get(stage, "") not in factor_setup.KINDS]
        if unfit:
            draft.complain("configuration_stages", str(missing(unfit[0])), "does_not_exist")


RESOURCE = Resource(
    path="/stages/otp_validate/",
    name="OTPValidateStage",
    record=OTPValidateStage,
    key="stage_uuid",
    family=STAGES,
    kind="otpvalidate",
    table=kind_table("identity_stages_otp_validate", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "not_configured_action", "webauthn_user_verification"),
    prepare=check,
)


NONE = "No (allowed) MFA authenticator configured."
WRONG = "Invalid Token. Please ensure the time on your device is accurate and try again."
NOT_THIS = "Invalid device"
CODES = ("totp", "static")
_named = query(
    select(stages.c.stage_uuid, stages.c.name, stages.c.kind).where(any_of(stages.c.stage_uuid, "ids")), tuple
)


async def show(turn: Turn[OTPValidateStage]) -> Outcome:
    user = await turn.pending_user()
    if user is None:
        return Denied("No user was given.", "otp_validate without a pending user")
    if turn.context.auth_method == "auth_webauthn_pwl":
        return PASSED  # the passkey has proved both: that it is there, and whose it is
    devices = await _devices(turn, user.id)
    recent = _used_lately(turn, user, devices)
    if recent is not None:
        return _passed(turn, recent)
    if devices:
        return await _ask(turn, user.username, devices)
    match turn.stage.not_configured_action:
        case "skip":
            return PASSED
        case "configure":
            return await _offer(turn, user.username)
    return Denied(NONE, "no device of an allowed class")


async def _devices(turn: Turn[OTPValidateStage], user_id: int) -> list[Factor]:
    return [one for one in await store.of_user(turn.work.db, user_id) if one.kind in turn.stage.device_classes]


def _used_lately(turn: Turn[OTPValidateStage], user: User, devices: list[Factor]) -> Factor | None:
    """The device with which this person signed in in this browser, within the stage's threshold."""
    seconds = read_offset(turn.stage.last_auth_threshold) or 0
    if not seconds:
        return None
    known = {one.device_uuid: one for one in devices}
    return known.get(browser_marks.has(turn, user, "factor", seconds, list(known)) or "")


async def _ask(turn: Turn[OTPValidateStage], username: str, devices: list[Factor]) -> Challenge:
    told: list[dict[str, Any]] = [
        {
            "device_class": one.kind,
            "device_uid": one.device_uuid,
            "name": one.name,
            "challenge": {},
            "last_used": one.last_used_at,
        }
        for one in devices
        if one.kind in CODES
    ]
    keys = [one for one in devices if one.kind == "webauthn"]
    if keys:
        challenge = turn.context.assertion_challenge = passkeys.new_challenge()
        options = await passkeys.request(
            turn.work,
            keys,
            challenge,
            verification=turn.stage.webauthn_user_verification,
            hints=turn.stage.webauthn_hints,
        )
        last = max((one.last_used_at for one in keys if one.last_used_at), default=None)
        told.append(
            {"device_class": "webauthn", "device_uid": "-1", "name": "Passkey", "challenge": options, "last_used": last}
        )
    return Challenge("otpvalidate", {"pending_user": username, "device_challenges": told, "configuration_stages": []})


async def _offer(turn: Turn[OTPValidateStage], username: str) -> Outcome:
    """With one configuration stage it comes next at once; of several the person chooses."""
    offered = await turn.work.db.all(_named, ids=turn.stage.configuration_stages)
    if not offered:
        return Denied(NONE, "nothing to set up is offered")
    if len(offered) == 1:
        return _insert(turn, offered[0][0], offered[0][2])
    choices = [
        {"pk": pk, "name": name, "verbose_name": VERBOSE_NAMES.get(kind, name), "meta_model_name": kind}
        for pk, name, kind in offered
    ]
    return Challenge(
        "otpvalidate", {"pending_user": username, "device_challenges": [], "configuration_stages": choices}
    )


def _insert(turn: Turn[OTPValidateStage], stage_uuid: str, kind: str) -> Outcome:
    """Put the configuration stage next. Setting a device up proves it, so this stage is passed."""
    step = turn.step
    turn.plan.steps.insert(
        1,
        Step(
            step.fsb_uuid,
            stage_uuid,
            kind,
            step.pbm_uuid,
            step.policy_engine_mode,
            again=False,
            at_plan=False,
            invalid_response_action="retry",
        ),
    )
    return PASSED


async def take(turn: Turn[OTPValidateStage], answer: dict[str, Any]) -> Outcome:
    user = await turn.pending_user()
    if user is None:
        return await show(turn)
    asked = turn.context.assertion_challenge
    shown = await show(turn)
    if not isinstance(shown, Challenge):
        return shown
    if not shown.fields["device_challenges"]:
        return await _chosen(turn, shown, answer)
    devices = await _devices(turn, user.id)
    if answer.get("webauthn") is not None:
        outcome = await _take_passkey(turn, shown, devices, asked, answer["webauthn"])
    else:
        outcome = await _take_code(turn, shown, devices, answer)
    used = turn.context.auth_method_args
    if isinstance(outcome, Passed) and used is not None:
        browser_marks.leave(turn, user, "factor", used["mfa_devices"][-1]["pk"])
    return outcome


async def _chosen(turn: Turn[OTPValidateStage], shown: Challenge, answer: dict[str, Any]) -> Outcome:
    for choice in shown.fields["configuration_stages"]:
        if choice["pk"] == answer.get("selected_stage"):
            return _insert(turn, choice["pk"], choice["meta_model_name"])
    return shown.complain("selected_stage", "Choose one of these.", "invalid_choice")


async def _take_code(
    turn: Turn[OTPValidateStage], shown: Challenge, devices: list[Factor], answer: dict[str, Any]
) -> Outcome:
    given = answer.get("code")
    code = str(given).strip() if isinstance(given, (str, int)) and not isinstance(given, bool) else ""
    if not code:
        return shown.complain("code", "This field may not be blank.", "blank")
    mine = [one for one in devices if one.kind in CODES]
    paid = await guessing.pay_for_code(turn.exchange, mine[0].user_id) if mine else None
    if paid is not None:  # whoever guesses elsewhere does not make this browser wait
        right = await service.try_code(turn.work, mine, code, is_paid=True)
        if right is None:
            return await _failed(turn, shown, "code", WRONG)
        await paid.give_back(turn.work.db)
        return _passed(turn, right)
    waits = {one.device_uuid: _wait(turn, one) for one in mine}
    free = [one for one in mine if waits[one.device_uuid] == 0]
    if not free:
        seconds = math.ceil(min(waits.values(), default=0))
        return shown.complain("code", f"Too many wrong codes. Try again in {max(seconds, 1)} seconds.", "throttled")
    right = await service.try_code(turn.work, free, code)
    if right is None:
        return await _failed(turn, shown, "code", WRONG)
    return _passed(turn, right)


def _wait(turn: Turn[OTPValidateStage], device: Factor) -> float:
    is_totp = device.kind == "totp"
    factor = turn.stage.totp_otp_throttling_factor if is_totp else turn.stage.static_otp_throttling_factor
    return service.wait_of(device, factor, turn.work.now)


async def _take_passkey(
    turn: Turn[OTPValidateStage], shown: Challenge, devices: list[Factor], asked: str | None, sent: Any
) -> Outcome:
    """`asked` is the challenge shown before; `shown` already has a new one."""
    keys = [one for one in devices if one.kind == "webauthn"]
    if asked is None or not keys:
        return shown.complain("webauthn", NOT_THIS)
    verified = turn.stage.webauthn_user_verification == "required"
    paid = await guessing.pay_for_key(turn.exchange)
    try:
        right = await passkeys.verify(turn.work, asked, sent, verified=verified, among=keys)
    except passkeys.PasskeyRejected as refused:
        log_counted("info", "webauthn.refused", type(refused).__name__, reason=str(refused)[:300])
        return await _failed(turn, shown, "webauthn", NOT_THIS)
    await paid.give_back(turn.work.db)
    return _passed(turn, right)


def _passed(turn: Turn[OTPValidateStage], device: Factor) -> Outcome:
    turn.context.assertion_challenge = None
    turn.context.auth_method = "auth_mfa"
    used = turn.context.auth_method_args = turn.context.auth_method_args or {}
    used.setdefault("mfa_devices", []).append(
        {"pk": device.device_uuid, "name": device.name, "device_class": device.kind}
    )
    return PASSED


async def _failed(turn: Turn[OTPValidateStage], shown: Challenge, field: str, words: str) -> Outcome:
    name = str(turn.context.pending_user_identifier or "")
    await audit.record(
        turn.work,
        "login_failed",
        "stages.otp_validate",
        user_id=turn.context.user_id,
        username=name,
        context={"username": name, "stage": model(f"{turn.step.kind}stage", turn.stage)},
    )
    await reputation_scores.change(turn.work, identifier=shown.fields["pending_user"], ip=turn.exchange.address, by=-1)
    return shown.complain(field, words)


STAGE = StageKind(RESOURCE, show, take)
