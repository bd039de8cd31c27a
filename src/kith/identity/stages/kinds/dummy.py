"""Shows a page with a button: for trying out flows."""

from __future__ import annotations

from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Boolean

FIELDS = (Boolean(name="throw_error", default=False, help="Fail instead."),)

RESOURCE = Resource(
    path="/stages/dummy/",
    record="DummyStage",
    key="stage_uuid",
    family=STAGES,
    kind="dummy",
    table=kind_table("identity_stages_dummy", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "throw_error"),
    removing=forget_stage,
)
