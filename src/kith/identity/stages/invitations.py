"""/stages/invitation/invitations/: an invitation's identifier is its secret, so few people may see it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Boolean as YesOrNo
from sqlalchemy import Column, Integer, text

from kith.base.db import UID
from kith.base.errors import Forbidden
from kith.identity.audit import service as audit
from kith.identity.rest import RecordDraft, Resource, record_table
from kith.identity.rest.fields import Boolean, Moment, Object, Reference, Slug
from kith.identity.rest.record import Record

FIELDS = (
    Slug("name", default=""),
    Moment(name="expires", null=True, default=None, help="Null: never."),
    Object(name="fixed_data", private=True, help="Answers given beforehand."),
    Boolean(name="single_use", default=False, help="It ends with its first use."),
    Reference(
        name="flow",
        null=True,
        to="identity_flows.flow_uuid",
        on_delete="CASCADE",
        help="Only this flow takes it; it goes when the flow goes.",
    ),
    Reference(name="created_by", to="identity_users.id", integer=True, on_delete="CASCADE", read_only=True),
)


class InvitationRecord(Record, kw_only=True):
    pk: str
    invite_uuid: str
    name: str
    expires: datetime | None
    fixed_data: dict[str, Any]
    single_use: bool
    flow: str | None
    created_by: int
    created: datetime
    last_updated: datetime


invitations = record_table(
    "identity_invitations",
    Column("invite_uuid", UID, primary_key=True),
    # Whoever comes with it follows whoever made it; the social half sets it.
    Column("autofollow", YesOrNo, nullable=False, server_default=text("false")),
    # How many have come with it, and how many may; members' own invitations have such an end.
    Column("uses", Integer, nullable=False, server_default=text("0")),
    Column("max_uses", Integer),
    fields=FIELDS,
)


async def check(draft: RecordDraft[InvitationRecord]) -> None:
    """Making and changing an invitation needs a permission; whoever made one may see and delete it.

    Members make some without: what those say, and how often they can be used, is not theirs to choose.
    """
    permission = RESOURCE.permission("add" if draft.is_new else "change")
    if not draft.caller.may(permission):
        raise Forbidden(
            "You do not have permission to perform this action.",
            extra={"code": "permission_denied", "permission": permission},
        )
    if not draft.is_new:
        return
    draft.columns |= {"created_by": draft.caller.id, "autofollow": False, "uses": 0, "max_uses": None}


def told_of_invitation(invite_uuid: str) -> dict[str, str]:
    """What the audit trail tells of an invitation: which one, but not its secret."""
    return {"invitation_uuid": audit.fingerprint(invite_uuid)}


async def saved(draft: RecordDraft[InvitationRecord]) -> None:
    if draft.is_new:
        await audit.record(
            draft.work,
            "invitation_created",
            "stages.invitation",
            user_id=draft.caller.id or None,
            username=draft.caller.username,
            context=told_of_invitation(draft.id),
        )


RESOURCE = Resource(
    path="/stages/invitation/invitations/",
    name="Invitation",
    record=InvitationRecord,
    key="invite_uuid",
    table=invitations,
    fields=FIELDS,
    order=("expires", "name"),
    exact=("name", "single_use", "flow", "created_by"),
    own="created_by",
    is_key_secret=True,
    prepare=check,
    saved=saved,
)
