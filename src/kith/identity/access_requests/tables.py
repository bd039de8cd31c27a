from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Column, Index

from kith.base.db import UID
from kith.identity.rest import link_table, record_table
from kith.identity.rest.fields import Boolean, Choice, Computed, Moment, Offset, Reference, References, Text

STATES = ("open", "approved", "refused", "withdrawn", "expired", "ended")
MOST_REASON = 1000

_OFFER = "identity_access_offers.offer_uuid"
approvers = link_table("identity_access_approvers", _OFFER, "identity_users.id", other_integer=True)
approver_groups = link_table("identity_access_approver_groups", _OFFER, "identity_groups.group_uuid")

OFFER_FIELDS = (
    Reference(name="application", null=True, unique=True, to="identity_applications.pbm_uuid", on_delete="CASCADE"),
    Reference(name="group", null=True, unique=True, to="identity_groups.group_uuid", on_delete="CASCADE"),
    Text(name="description", default="", most=MOST_REASON, help="What people read who think about asking for it."),
    Boolean(name="requestable", default=True, help="False: nobody can ask for it at the moment."),
    Offset(name="longest", default="days=30", least=60, most=256, help="For how long access is given at most."),
    References(
        name="approvers",
        to="identity_users.id",
        integer=True,
        link=approvers,
        most=100,
        help="People who decide about requests.",
    ),
    References(
        name="approver_groups",
        to="identity_groups.group_uuid",
        link=approver_groups,
        most=100,
        help="Groups whose members decide about requests, with those of all groups below.",
    ),
)
offers = record_table("identity_access_offers", Column("offer_uuid", UID, primary_key=True), fields=OFFER_FIELDS)

REQUEST_FIELDS = (
    Reference(name="offer", required=True, to=_OFFER, on_delete="CASCADE"),
    Reference(name="user", to="identity_users.id", integer=True, on_delete="CASCADE", read_only=True),
    Text(name="reason", required=True, most=MOST_REASON, help="Why the person asks, for those who decide."),
    Offset(name="duration", required=True, least=60, most=256, help="For how long they ask."),
    Choice(name="state", choices=STATES, read_only=True),
    Moment(name="closes", read_only=True, help="Nobody can decide about it after this."),
    Reference(name="decided_by", null=True, to="identity_users.id", integer=True, on_delete="SET NULL", read_only=True),
    Moment(name="decided", null=True, read_only=True),
    Text(name="answer", read_only=True, help="What whoever decided said about it."),
    Moment(name="expires", null=True, read_only=True, help="When the access that was given ends."),
    Computed(name="username", form={"type": "string"}),
    Computed(name="offer_name", form={"type": "string"}),
)
requests = record_table(
    "identity_access_requests", Column("request_uuid", UID, primary_key=True), fields=REQUEST_FIELDS
)
requests.append_constraint(Index("ix_identity_access_requests_state", requests.c.state, requests.c.closes))


class AccessOffer(msgspec.Struct):
    """Something that people can ask for; `name` is that of the application or group."""

    offer_uuid: str
    application: str | None
    group: str | None
    description: str
    requestable: bool
    longest: str
    name: str
    policy_engine_mode: str | None


class RequestForAccess(msgspec.Struct):
    request_uuid: str
    offer: str
    user: int
    reason: str
    duration: str
    state: str
    closes: datetime
    decided_by: int | None
    decided: datetime | None
    answer: str
    expires: datetime | None
    created_at: datetime
    updated_at: datetime
