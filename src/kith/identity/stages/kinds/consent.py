"""Asks whether the application may have what it asks for, and remembers the answer for as long as it says."""

from __future__ import annotations

from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Choice, Offset

FIELDS = (
    Choice(name="mode", default="always_require", choices=("always_require", "permanent", "expiring")),
    Offset(name="consent_expire_in", default="weeks=4", least=1, help="How long an answer holds in mode expiring."),
)

RESOURCE = Resource(
    path="/stages/consent/",
    record="ConsentStage",
    key="stage_uuid",
    family=STAGES,
    kind="consent",
    table=kind_table("identity_stages_consent", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "mode", "consent_expire_in"),
    removing=forget_stage,
)
