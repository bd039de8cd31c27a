"""Asks a person to fill in a form. A prompt stage is a target of policies too: they check the answers."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey

from kith.base.db import UID
from kith.identity.flows.resources import bound_policies, forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource, kind_table, link_table
from kith.identity.rest.fields import Reference, References, Told

_IDS = {"type": "array", "items": {"type": "string", "format": "uuid"}, "uniqueItems": True}

prompt_stages = kind_table(
    "identity_stages_prompt",
    STAGES,
    (),
    Column(
        "pbm_uuid", UID, ForeignKey("identity_policy_targets.pbm_uuid", ondelete="CASCADE"), nullable=False, unique=True
    ),
)
prompt_fields = link_table(
    "identity_stages_prompt_fields", "identity_stages_prompt.pbm_uuid", "identity_prompts.prompt_uuid"
)
validation_policies = link_table(
    "identity_stages_prompt_policies", "identity_stages_prompt.pbm_uuid", "identity_policies.policy_uuid"
)

FIELDS = (
    Reference(
        name="stage_uuid",
        to="identity_stages.stage_uuid",
        on_delete="CASCADE",
        read_only=True,
        help="What a flow's binding names.",
    ),
    References(name="fields", required=True, to="identity_prompts.prompt_uuid", link=prompt_fields, may_be_empty=False),
    References(
        name="validation_policies",
        to="identity_policies.policy_uuid",
        link=validation_policies,
        help="Policies that must all agree with the answers.",
    ),
    Told(name="policies", form=_IDS),
)

RESOURCE = Resource(
    path="/stages/prompt/stages/",
    record="PromptStage",
    key="pbm_uuid",
    family=STAGES,
    kind="prompt",
    table=prompt_stages,
    fields=FIELDS,
    target=True,
    exact=("name", "stage_uuid"),
    removing=forget_stage,
    decorate=bound_policies,
)
