"""Asks who is there: by username, by address, or through a source."""

from __future__ import annotations

from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Draft, Resource, kind_table, link_table
from kith.identity.rest.fields import Boolean, Choice, Choices, Reference, References

_FLOW = "identity_flows.flow_uuid"
_STAGE = "identity_stages.stage_uuid"

identification_sources = link_table("identity_stages_identification_sources", _STAGE, "identity_sources.pbm_uuid")

FIELDS = (
    Choices(name="user_fields", required=True, choices=("email", "username", "upn")),
    Choice(
        name="template",
        required=True,
        choices=("login", "recovery"),
        also={f"stages/identification/{name}.html": name for name in ("login", "recovery")},
    ),
    Reference(name="enrollment_flow", null=True, to=_FLOW, where=(("designation", "enrollment"),)),
    Reference(name="recovery_flow", null=True, to=_FLOW, where=(("designation", "recovery"),)),
    Reference(name="passwordless_flow", null=True, to=_FLOW, where=(("designation", "authentication"),)),
    Reference(name="password_stage", null=True, to=_STAGE, where=(("kind", "password"),)),
    Reference(name="captcha_stage", null=True, to=_STAGE, where=(("kind", "captcha"),)),
    Reference(name="webauthn_stage", null=True, to=_STAGE, where=(("kind", "otpvalidate"),)),
    Boolean(name="case_insensitive_matching", default=True),
    Boolean(name="show_matched_user", default=True, help="False: show what was typed, not who was found."),
    Boolean(name="pretend_user_exists", default=True, help="Go on for unknown names, so that nobody learns of them."),
    Boolean(name="enable_remember_me", default=False),
    References(name="sources", to="identity_sources.pbm_uuid", link=identification_sources, most=100),
    Boolean(name="show_source_labels", default=False),
)


async def check(draft: Draft) -> None:
    touched = draft.sets("user_fields") or draft.sets("sources")
    if touched and not draft.now("user_fields") and not draft.now("sources"):
        draft.complain("", "When no user fields are selected, at least one source must be selected.")


RESOURCE = Resource(
    path="/stages/identification/",
    record="IdentificationStage",
    key="stage_uuid",
    family=STAGES,
    kind="identification",
    table=kind_table("identity_stages_identification", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "template", "enrollment_flow", "recovery_flow", "passwordless_flow", "password_stage"),
    prepare=check,
    removing=forget_stage,
)
