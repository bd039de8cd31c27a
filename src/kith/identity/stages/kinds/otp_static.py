"""Hands out a list of codes, each good for one sign-in."""

from __future__ import annotations

from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Integer
from kith.identity.stages import setup

FIELDS = (
    Integer(name="token_count", default=6, least=1, most=100),
    Integer(name="token_length", default=12, least=1, most=100),
    *setup.FIELDS,
)

RESOURCE = Resource(
    path="/stages/otp_static/",
    record="OTPStaticStage",
    key="stage_uuid",
    family=STAGES,
    kind="otpstatic",
    table=kind_table("identity_stages_otp_static", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "token_count", "token_length", "configure_flow", "friendly_name"),
    removing=forget_stage,
)
