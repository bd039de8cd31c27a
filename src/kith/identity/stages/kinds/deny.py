"""Ends the flow with a no."""

from __future__ import annotations

from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Text

FIELDS = (Text(name="deny_message", default="", most=2000),)

RESOURCE = Resource(
    path="/stages/deny/",
    record="DenyStage",
    key="stage_uuid",
    family=STAGES,
    kind="deny",
    table=kind_table("identity_stages_deny", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "deny_message"),
    removing=forget_stage,
)
