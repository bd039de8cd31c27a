"""/events/notifications/: what somebody was told. Everybody sees their own; only `seen` can be changed."""

from __future__ import annotations

from datetime import datetime

from kith.identity.event_notifications.tables import notifications
from kith.identity.rest import ALL, Resource
from kith.identity.rest.fields import Boolean, Integer, Reference, Text
from kith.identity.rest.record import Record

FIELDS = (
    Reference(name="user", to="identity_users.id", integer=True, read_only=True, stored_as="user_id"),
    Text(name="severity", read_only=True, help="notice, warning or alert, as the rule says."),
    Text(name="body", read_only=True),
    Reference(name="event", null=True, to="identity_events.event_uuid", read_only=True, help="Null: it has expired."),
    Integer(name="count", read_only=True, help="How many events it stands for; `event` is the last of them."),
    Boolean(name="seen", default=False),
)


class NotificationRecord(Record, kw_only=True):
    pk: str
    uuid: str
    user: int
    severity: str
    body: str
    event: str | None
    count: int
    seen: bool
    created: datetime
    last_updated: datetime


RESOURCE = Resource(
    path="/events/notifications/",
    name="Notification",
    record=NotificationRecord,
    key="uuid",
    table=notifications,
    fields=FIELDS,
    search=("body", "severity"),
    order=("-created",),
    exact=("user", "severity", "event", "seen"),
    allow=ALL - {"create"},
    label="severity",
    own="user",
    is_audited=False,
)
