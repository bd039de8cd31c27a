"""Sets up or asks for a one-time password, whichever is called for."""

from __future__ import annotations

from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Boolean

FIELDS = (Boolean(name="enforced", default=False, help="Who has no device must set one up."),)

RESOURCE = Resource(
    path="/stages/otp/",
    record="OTPStage",
    key="stage_uuid",
    family=STAGES,
    kind="otp",
    table=kind_table("identity_stages_otp", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "enforced"),
    removing=forget_stage,
)
