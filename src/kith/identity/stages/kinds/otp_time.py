"""Sets up an authenticator app: codes that change with time."""

from __future__ import annotations

from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Choice
from kith.identity.stages import setup

FIELDS = (Choice(name="digits", required=True, choices=(6, 8)), *setup.FIELDS)

RESOURCE = Resource(
    path="/stages/otp_time/",
    record="OTPTimeStage",
    key="stage_uuid",
    family=STAGES,
    kind="otptime",
    table=kind_table("identity_stages_otp_time", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "digits", "configure_flow", "friendly_name"),
    removing=forget_stage,
)
