"""/audit/events/: what happened, to be read and never changed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam

from kith.base.db import Instant
from kith.base.work import Work
from kith.identity.audit.tables import events
from kith.identity.rest import READ, ListFilter, Resource
from kith.identity.rest.fields import Computed, Moment, Object, Reference, Text
from kith.identity.rest.record import Record

FIELDS = (
    Reference(name="user", null=True, to="identity_users.id", integer=True, read_only=True, stored_as="user_id"),
    Text(name="username", read_only=True, help="Whose name it was at the time; it outlives the person."),
    Text(name="action", required=True, most=60),
    Text(name="app", required=True, most=100),
    Object(name="context"),
    Text(name="client_ip", null=True, most=45),
    Moment(name="created", read_only=True, stored_as="created_at"),
    Moment(name="expires", read_only=True, stored_as="expires_at"),
    Computed(name="date", form={"type": "string", "format": "date-time"}, help="As created."),
)


class EventRecord(Record, kw_only=True):
    pk: str
    event_uuid: str
    user: int | None
    username: str
    action: str
    app: str
    context: dict[str, Any]
    client_ip: str | None
    created: datetime
    expires: datetime
    date: datetime | msgspec.UnsetType = msgspec.UNSET


async def decorate(_work: Work, records: list[EventRecord]) -> None:
    for record in records:
        record.date = record.created


def _action(text: str) -> str:
    """Actions were once published in capitals, and two of them under other names."""
    word = text.lower()
    return {"invite_created": "invitation_created", "invite_used": "invitation_used"}.get(word, word)


def _since(text: str) -> Any:
    return Moment(name="created").take(text)


RESOURCE = Resource(
    path="/audit/events/",
    name="Event",
    record=EventRecord,
    key="event_uuid",
    table=events,
    fields=FIELDS,
    search=("event_uuid", "username", "action", "app", "context", "client_ip"),
    order=("-created",),
    exact=("user", "username", "app", "client_ip"),
    filters=(
        ListFilter(name="action", clause=events.c.action == bindparam("f_action"), read=_action, bind="f_action"),
        ListFilter(
            name="created__gte",
            clause=events.c.created_at >= bindparam("f_from", type_=Instant()),
            read=_since,
            bind="f_from",
        ),
        ListFilter(
            name="created__lte",
            clause=events.c.created_at <= bindparam("f_to", type_=Instant()),
            read=_since,
            bind="f_to",
        ),
    ),
    allow=READ,
    label="action",
    export=("event_uuid", "created", "action", "app", "user", "username", "client_ip", "context", "expires"),
    export_by="created",
    decorate=decorate,
)
