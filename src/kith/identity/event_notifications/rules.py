"""/events/rules/: which events somebody is told of, how, and who."""

from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Column, ForeignKey

from kith.base.db import UID
from kith.identity.rest import Resource, link_table, record_table
from kith.identity.rest.fields import Boolean, Choice, Reference, References, Text
from kith.identity.rest.record import Record

SEVERITIES = ("notice", "warning", "alert")

rule_transports = link_table(
    "identity_notification_rule_transports",
    "identity_notification_rules.pbm_uuid",
    "identity_notification_transports.uuid",
)

FIELDS = (
    Text(name="name", required=True, most=255, unique=True),
    References(
        name="transports",
        to="identity_notification_transports.uuid",
        link=rule_transports,
        most=100,
        help="Without one nothing is sent.",
    ),
    Choice(name="severity", default="notice", choices=SEVERITIES),
    Reference(
        name="destination_group",
        null=True,
        to="identity_groups.group_uuid",
        help="Its members, and those of the groups below it, are told.",
    ),
    Boolean(name="destination_event_user", default=False, help="The person whom the event names is told, too."),
    Boolean(name="destination_administrators", default=False, help="Everybody who administers this server is told."),
)

rules = record_table(
    "identity_notification_rules",
    Column("pbm_uuid", UID, ForeignKey("identity_policy_targets.pbm_uuid", ondelete="CASCADE"), primary_key=True),
    fields=FIELDS,
)


class NotificationRuleRecord(Record, kw_only=True):
    pk: str
    pbm_uuid: str
    name: str
    transports: list[str] = msgspec.field(default_factory=list)
    severity: str
    destination_group: str | None
    destination_event_user: bool
    destination_administrators: bool
    created: datetime
    last_updated: datetime


RESOURCE = Resource(
    path="/events/rules/",
    name="NotificationRule",
    record=NotificationRuleRecord,
    key="pbm_uuid",
    table=rules,
    fields=FIELDS,
    target=True,
    exact=("name", "severity", "destination_group"),
    describe="An event that a policy bound to the rule lets through is told. A rule without bindings tells nothing.",
)
