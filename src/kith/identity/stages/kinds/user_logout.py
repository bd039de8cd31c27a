"""Ends the session."""

from __future__ import annotations

from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource

RESOURCE = Resource(
    path="/stages/user_logout/",
    record="UserLogoutStage",
    key="stage_uuid",
    family=STAGES,
    kind="userlogout",
    table=None,
    fields=(),
    exact=("name",),
    removing=forget_stage,
)
