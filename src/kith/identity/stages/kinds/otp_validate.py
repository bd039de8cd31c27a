"""Asks for the second factor."""

from __future__ import annotations

from sqlalchemy import select

from kith.base.db import any_of, query
from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES, stages
from kith.identity.rest import Draft, Resource, kind_table, link_table
from kith.identity.rest.fields import Choice, Choices, Number, Offset, References, missing
from kith.identity.stages import setup

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

_kinds = query(select(stages.c.stage_uuid, stages.c.kind).where(any_of(stages.c.stage_uuid, "ids")), tuple)


async def check(draft: Draft) -> None:
    touched = draft.sets("not_configured_action") or draft.sets("configuration_stages")
    if touched and draft.now("not_configured_action") == "configure" and not draft.now("configuration_stages"):
        draft.complain("configuration_stages", "Needed when not_configured_action is configure.", "required")
    if draft.sets("configuration_stages"):
        given = draft.values["configuration_stages"]
        kinds: dict[str, str] = dict(await draft.work.db.all(_kinds, ids=given))
        unfit = [stage for stage in given if kinds.get(stage, "") not in setup.KINDS]
        if unfit:
            draft.complain("configuration_stages", str(missing(unfit[0])), "does_not_exist")


RESOURCE = Resource(
    path="/stages/otp_validate/",
    record="OTPValidateStage",
    key="stage_uuid",
    family=STAGES,
    kind="otpvalidate",
    table=kind_table("identity_stages_otp_validate", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "not_configured_action", "webauthn_user_verification"),
    prepare=check,
    removing=forget_stage,
)
