"""Writes what was asked for into a person's record, and makes the record where there is none."""

from __future__ import annotations

from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.granting import complain_grant
from kith.identity.rest import Draft, Resource, kind_table
from kith.identity.rest.fields import Boolean, Choice, Reference, Text

FIELDS = (
    Choice(
        name="user_creation_mode",
        default="create_when_required",
        choices=("never_create", "create_when_required", "always_create"),
    ),
    Boolean(name="create_users_as_inactive", default=False),
    Reference(name="create_users_group", null=True, to="identity_groups.group_uuid", help="New people join it."),
    Choice(name="user_type", default="external", choices=("internal", "external", "service_account")),
    Text(name="user_path_template", default="", most=500),
)


async def check(draft: Draft) -> None:
    """Nobody may grant what they lack, not even to people who do not exist yet."""
    if draft.caller.permissions is None or not draft.sets("create_users_group"):
        return
    words = await complain_grant(draft, draft.values["create_users_group"])
    if words is not None:
        draft.complain("create_users_group", words, "permission_denied")


RESOURCE = Resource(
    path="/stages/user_write/",
    record="UserWriteStage",
    key="stage_uuid",
    family=STAGES,
    kind="userwrite",
    table=kind_table("identity_stages_user_write", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "user_creation_mode", "create_users_as_inactive", "create_users_group", "user_type"),
    prepare=check,
    removing=forget_stage,
)
