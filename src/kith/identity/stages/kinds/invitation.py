"""Lets in whom somebody invited."""

from __future__ import annotations

from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Boolean

FIELDS = (Boolean(name="continue_flow_without_invitation", default=False),)

RESOURCE = Resource(
    path="/stages/invitation/",
    record="InvitationStage",
    key="stage_uuid",
    family=STAGES,
    kind="invitation",
    table=kind_table("identity_stages_invitation", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "continue_flow_without_invitation"),
    removing=forget_stage,
)
