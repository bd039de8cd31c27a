"""What all sources have: a name, a slug, flows and policies. People can sign in through a source."""

from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Column, ForeignKey, Integer, String

from kith.base.db import UID
from kith.identity.rest import Family, record_table
from kith.identity.rest.fields import Boolean, Choice, Computed, Reference, Slug, Text
from kith.identity.rest.record import Record

_AUTHENTICATION = (("designation", "authentication"),)
LINKS = "_link"  # how modes end by which an account or a group here is taken for one there that has its name
_ENROLLMENT = (("designation", "enrollment"),)

FIELDS = (
    Text(name="name", required=True, most=255),
    Slug("slug", required=True, unique=True),
    Boolean(name="enabled", default=True, help="False: no button, and its addresses are not found."),
    Reference(
        name="authentication_flow",
        null=True,
        to="identity_flows.flow_uuid",
        on_delete="RESTRICT",
        where=_AUTHENTICATION,
    ),
    Reference(name="enrollment_flow", null=True, to="identity_flows.flow_uuid", where=_ENROLLMENT),
    Choice(name="policy_engine_mode", default="all", choices=("all", "any")),
    Choice(
        name="user_matching_mode",
        default="identifier",
        choices=("identifier", "email_link", "email_deny", "username_link", "username_deny"),
    ),
    Text(name="user_path_template", default="sources/%(slug)s", most=500, help="Where new people are filed."),
    Text(name="icon", default="", most=500),
    Boolean(name="promoted", default=False),
    Computed(
        name="policies",
        form={"type": "array", "items": {"type": "string", "format": "uuid"}, "uniqueItems": True},
    ),
)


class SourceRecord(Record, kw_only=True):
    """What every source has."""

    pk: str
    pbm_uuid: str
    name: str
    slug: str
    enabled: bool
    authentication_flow: str | None
    enrollment_flow: str | None
    policy_engine_mode: str
    user_matching_mode: str
    user_path_template: str
    icon: str
    promoted: bool
    policies: list[str] = msgspec.field(default_factory=list)
    created: datetime
    last_updated: datetime


sources = record_table(
    "identity_sources",
    Column("pbm_uuid", UID, ForeignKey("identity_policy_targets.pbm_uuid", ondelete="CASCADE"), primary_key=True),
    Column("kind", String(40), nullable=False, index=True),
    # Whose rights the source has: it changes nobody who may do more. 0 is the operator; null: nobody knows.
    Column("set_up_by", Integer),
    fields=FIELDS,
)

SOURCES = Family(table=sources, key="pbm_uuid", fields=FIELDS)
