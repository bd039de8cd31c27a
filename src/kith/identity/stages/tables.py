"""The tables of prompt stages, which join prompts and policies."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey

from kith.base.db import UID
from kith.identity.flows.stages import STAGES
from kith.identity.rest import kind_table, link_table

prompt_stages = kind_table(
    "identity_stages_prompt",
    STAGES,
    (),
    Column(
        "pbm_uuid", UID, ForeignKey("identity_policy_targets.pbm_uuid", ondelete="CASCADE"), nullable=False, unique=True
    ),
)
prompt_fields = link_table(
    "identity_stages_prompt_fields", "identity_stages_prompt.pbm_uuid", "identity_prompts.prompt_uuid", holds=True
)
validation_policies = link_table(
    "identity_stages_prompt_policies", "identity_stages_prompt.pbm_uuid", "identity_policies.policy_uuid", holds=True
)
