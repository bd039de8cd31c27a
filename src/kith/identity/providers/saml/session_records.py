"""/providers/saml/sessions/: where people are signed in by our assertions. People see and end their own.

An assertion makes them, so nobody else does. Ending one tells the service.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select

from kith.base.db import any_of, query
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.providers.family import providers
from kith.identity.providers.saml import store
from kith.identity.providers.saml.logout import back_channel
from kith.identity.providers.saml.tables import saml_sessions
from kith.identity.rest import READ, Resource
from kith.identity.rest.fields import Computed, Integer, Moment, Reference, Text
from kith.identity.rest.record import Record

FIELDS = (
    Integer(name="provider", read_only=True, stored_as="provider_id"),
    Computed(name="provider_name", form={"type": "string"}),
    Reference(name="user", to="identity_users.id", integer=True, read_only=True, stored_as="user_id"),
    Reference(
        name="session",
        to="identity_sessions.session_uuid",
        read_only=True,
        stored_as="session_uuid",
        help="The session here that it began in.",
    ),
    Text(name="session_index", read_only=True, help="What the service knows the session by."),
    Text(name="name_id", read_only=True, help="What the service knows the person by."),
    Text(name="name_id_format", read_only=True),
    Text(name="issuer", read_only=True),
    Moment(name="expires", read_only=True, stored_as="expires_at"),
)


class SAMLSessionRecord(Record, kw_only=True):
    pk: str
    saml_session_uuid: str
    provider: int
    provider_name: str = ""
    user: int
    session: str
    session_index: str
    name_id: str
    name_id_format: str
    issuer: str
    expires: datetime
    created: datetime


_names = query(select(providers.c.id, providers.c.name).where(any_of(providers.c.id, "ids")), tuple)
_name = select(providers.c.name).where(providers.c.id == saml_sessions.c.provider_id).scalar_subquery()


async def decorate(work: Work, records: list[SAMLSessionRecord]) -> None:
    names: dict[int, str] = dict(await work.db.all(_names, ids=[record.provider for record in records]))
    for record in records:
        record.provider_name = names.get(record.provider, "")


async def removing(work: Work, record: SAMLSessionRecord, _caller: ApiCaller) -> None:
    found = await store.session_at(work.db, record.session, record.provider)
    if found is not None:
        await back_channel.tell(work, found)


RESOURCE = Resource(
    path="/providers/saml/sessions/",
    name="SAMLSession",
    record=SAMLSessionRecord,
    key="saml_session_uuid",
    table=saml_sessions,
    fields=FIELDS,
    search=(_name, "name_id", "session_index"),
    order=("created",),
    exact=("provider", "user", "session", "session_index", "name_id"),
    allow=READ | {"delete"},
    label="provider_name",
    own="user",
    removing=removing,
    decorate=decorate,
)
