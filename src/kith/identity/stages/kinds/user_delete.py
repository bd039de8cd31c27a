"""Deletes the account of whoever is in the flow."""

from __future__ import annotations

from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource

RESOURCE = Resource(
    path="/stages/user_delete/",
    record="UserDeleteStage",
    key="stage_uuid",
    family=STAGES,
    kind="userdelete",
    table=None,
    fields=(),
    exact=("name",),
    removing=forget_stage,
)
