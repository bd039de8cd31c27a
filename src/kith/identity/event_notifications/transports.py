"""/events/transports/: the ways a notification takes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Column

from kith.base.db import UID
from kith.identity.rest import RecordDraft, Resource, record_table
from kith.identity.rest.fields import URL, Boolean, Choice, Reference, Secret, Text
from kith.identity.rest.record import Record

LOCAL, EMAIL, WEBHOOK, SLACK, DIRECT = MODES = ("local", "email", "webhook", "webhook_slack", "direct")
_MAPPING: dict[str, Any] = {
    "to": "identity_property_mappings.pm_uuid",
    "where": (("kind", "notification"),),
    "null": True,
    "sent_to": ("webhook_url",),  # headers of somebody else's may be what lets one in there
    "needs": "propertymappings.change_notificationwebhookmapping",
}

FIELDS = (
    Text(name="name", required=True, most=255, unique=True),
    Choice(
        name="mode",
        default=LOCAL,
        choices=MODES,
        help="local: kept at /events/notifications/; direct: a direct message of the social half.",
    ),
    URL(name="webhook_url", default="", most=2000, guarded=True, help="For webhook and webhook_slack."),
    Secret(
        name="webhook_secret",
        most=500,
        default="",
        sent_to=("webhook_url",),
        help="Signs what is sent: X-Hub-Signature is sha256= and the HMAC of the body in hexadecimal digits.",
    ),
    Reference(name="webhook_mapping_body", **_MAPPING, help="What it returns is sent as JSON."),
    Reference(name="webhook_mapping_headers", **_MAPPING, help="It returns an object of headers."),
    Text(name="email_subject_prefix", default="", most=100, trim=False, help="Empty: the title of the server."),
    Reference(
        name="direct_sender",
        null=True,
        to="identity_users.id",
        integer=True,
        help="In whose name direct messages are sent: oneself, or for superusers anybody.",
    ),
    Boolean(name="send_once", default=False, help="One message, not one for each recipient."),
)

transports = record_table("identity_notification_transports", Column("uuid", UID, primary_key=True), fields=FIELDS)


class NotificationTransportRecord(Record, kw_only=True):
    pk: str
    uuid: str
    name: str
    mode: str
    webhook_url: str
    webhook_mapping_body: str | None
    webhook_mapping_headers: str | None
    email_subject_prefix: str
    direct_sender: int | None
    send_once: bool
    created: datetime
    last_updated: datetime


async def check(draft: RecordDraft[NotificationTransportRecord]) -> None:
    now = draft.now
    if now.mode in (WEBHOOK, SLACK) and not now.webhook_url:
        draft.complain("webhook_url", "A webhook needs an address.", "required")
    if now.mode == DIRECT and now.direct_sender is None:
        draft.complain("direct_sender", "A direct message needs a sender.", "required")


RESOURCE = Resource(
    path="/events/transports/",
    name="NotificationTransport",
    record=NotificationTransportRecord,
    key="uuid",
    table=transports,
    fields=FIELDS,
    exact=("name", "mode", "send_once"),
    prepare=check,
)
