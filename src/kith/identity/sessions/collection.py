"""/core/authenticated_sessions/: where people are signed in. Everybody sees and ends their own."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.locations.service import Locations
from kith.identity.rest import Resource
from kith.identity.rest.fields import Computed, Moment, Reference, Text
from kith.identity.rest.record import Record
from kith.identity.sessions import store
from kith.identity.sessions.impersonation_record import record_end
from kith.identity.sessions.service import SessionEnded
from kith.identity.sessions.tables import sessions
from kith.identity.sessions.user_agents import program_of, system_of
from kith.identity.users.privileges import refuse_if_above

_FACTS = {"type": ["object", "null"], "additionalProperties": True}

FIELDS = (
    Reference(name="user", to="identity_users.id", integer=True, read_only=True, stored_as="user_id"),
    Text(name="auth_method", read_only=True, help="How they signed in."),
    Text(name="last_ip", read_only=True),
    Text(name="last_user_agent", read_only=True),
    Moment(name="last_used", read_only=True, stored_as="last_used_at"),
    Moment(name="expires", read_only=True, stored_as="expires_at"),
    Computed(name="current", form={"type": "boolean"}, help="Whether this request came with it."),
    Computed(name="user_agent", form={"type": "object", "additionalProperties": True}),
    Computed(name="geo_ip", form=_FACTS, help="Where the last address is, if the server has a file of addresses."),
    Computed(name="asn", form=_FACTS, help="The network of the last address, likewise."),
)


class AuthenticatedSession(Record, kw_only=True):
    pk: str
    session_uuid: str
    user: int
    auth_method: str
    last_ip: str
    last_user_agent: str
    last_used: datetime
    expires: datetime
    current: bool = False
    user_agent: dict[str, Any] = {}  # noqa: RUF012 - a struct copies its defaults
    geo_ip: dict[str, Any] | None = None
    asn: dict[str, Any] | None = None
    created: datetime


async def decorate(work: Work, records: list[AuthenticatedSession]) -> None:
    known = work.find(Locations)
    for record in records:
        agent = record.last_user_agent
        place, network = known.place(record.last_ip), known.network(record.last_ip)
        record.current = record.session_uuid == work.origin.session
        record.user_agent = {"string": agent, "user_agent": program_of(agent), "os": system_of(agent)}
        record.geo_ip = place.facts() if place is not None else None
        record.asn = network.facts() if network is not None else None


async def removing(work: Work, record: AuthenticatedSession, caller: ApiCaller) -> None:
    if record.user != caller.id:
        await refuse_if_above(work, caller, record.user, "end a session of")
    found = [one for one in await store.of_user(work.db, record.user, work.now) if one.session_uuid == record.pk]
    for session in found:
        await record_end(work, session)
    work.announce(SessionEnded(session_uuid=record.pk))


RESOURCE = Resource(
    path="/core/authenticated_sessions/",
    name="AuthenticatedSession",
    record=AuthenticatedSession,
    key="session_uuid",
    table=sessions,
    fields=FIELDS,
    only=sessions.c.user_id.is_not(None),
    search=("last_ip", "last_user_agent", "auth_method"),
    order=("-last_used",),
    exact=("user", "last_ip", "auth_method"),
    allow=frozenset({"list", "read", "delete"}),
    label="session_uuid",
    own="user",
    removing=removing,
    decorate=decorate,
)
