"""What the team sees of people's records, and how it finds people by them. Statements are the same for one or many."""

from __future__ import annotations

import ipaddress
import itertools
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, and_, bindparam, func, literal_column, or_, select, union_all

from kith.base.db import Instant, Session, any_of, any_row, query
from kith.identity.account_settings.visitor import locale_of
from kith.identity.audit.tables import Event, events
from kith.identity.providers.oauth2.tables import grants
from kith.identity.sessions.tables import sessions
from kith.identity.signups.tables import signups
from kith.identity.users.names import email_key
from kith.identity.users.tables import User, is_active, users

SIGNED_UP = "sign-up"  # how the grant of an app came about that made the account
MOST_ADDRESSES = 20

_people = query(select(users).where(any_of(users.c.id, "ids")), User)
_TOLD = ("user_id", "reason", "locale", "client_ip", "created_at", "invited_by", "app_id")
_signups = query(select(*(signups.c[name] for name in _TOLD)).where(any_of(signups.c.user_id, "ids")), tuple)
_seen = query(
    select(sessions.c.user_id, sessions.c.last_ip, func.max(sessions.c.last_used_at))
    .where(any_of(sessions.c.user_id, "ids"))
    .group_by(sessions.c.user_id, sessions.c.last_ip),
    tuple,
)
_apps = query(
    select(grants.c.user_id, grants.c.app_id).where(
        and_(any_of(grants.c.user_id, "ids"), grants.c.auth_method == SIGNED_UP)
    ),
    tuple,
)
_addresses = query(union_all(select(sessions.c.last_ip.label("ip")), select(signups.c.client_ip.label("ip"))), str)


_locales_told = query(select(signups.c.user_id, signups.c.locale).where(any_of(signups.c.user_id, "ids")), tuple)
_sources = query(
    select(signups.c.client_name, func.count())
    .where(
        and_(
            signups.c.created_at >= bindparam("start", type_=Instant()),
            signups.c.created_at < bindparam("end", type_=Instant()),
        )
    )
    .group_by(signups.c.client_name)
    .order_by(func.count().desc(), signups.c.client_name),
    tuple,
)


class Address(msgspec.Struct, frozen=True):
    ip: str
    used_at: datetime


class PersonRecord(msgspec.Struct, frozen=True):
    id: int
    email: str
    is_confirmed: bool
    is_approved: bool
    is_active: bool
    role: str
    locale: str
    reason: str | None
    signed_up: bool  # by themselves, rather than made by an operator
    app_id: int | None
    invited_by: int | None
    addresses: tuple[Address, ...]  # the latest first


async def records_of(db: Session, ids: Sequence[int]) -> dict[int, PersonRecord]:
    """Those that are there, in four statements."""
    wanted = list(ids)
    if not wanted:
        return {}
    told = {row[0]: row[1:] for row in await db.all(_signups, ids=wanted)}
    apps: dict[int, int] = dict(await db.all(_apps, ids=wanted))
    seen: dict[int, dict[str, datetime]] = {}
    for user_id, ip, at in await db.all(_seen, ids=wanted):
        seen.setdefault(user_id, {})[ip] = _moment(at)
    for user_id, (_, _, ip, at, _, _) in told.items():
        seen.setdefault(user_id, {}).setdefault(ip, at)
    return {
        user.id: _record(user, told.get(user.id), apps.get(user.id), seen.get(user.id, {}))
        for user in await db.all(_people, ids=wanted)
    }


def _moment(at: datetime | str) -> datetime:
    """The newest of several has lost its type on SQLite."""
    return datetime.fromisoformat(at) if isinstance(at, str) else at


def _record(user: User, told: Any, app_id: int | None, seen: dict[str, datetime]) -> PersonRecord:
    reason, locale, _ip, _at, invited_by, made_by = told if told is not None else ("", "", "", None, None, None)
    newest = sorted(((at, ip) for ip, at in seen.items() if ip), reverse=True)
    return PersonRecord(
        id=user.id,
        email=user.email,
        is_confirmed=user.confirmed_at is not None,
        is_approved=user.approved_at is not None,
        is_active=user.is_active,
        role=user.role,
        locale=locale_of(user) or locale or "en",
        reason=reason or None,
        signed_up=told is not None,
        app_id=made_by or app_id,
        invited_by=invited_by,
        addresses=tuple(Address(ip, at) for at, ip in newest[:MOST_ADDRESSES]),
    )


def is_person(column: ColumnElement[Any], state: str) -> ColumnElement[bool]:
    """Whether the person whose id `column` holds is `active`, `pending` or `disabled`."""
    waits, active = users.c.approved_at.is_(None), is_active()
    clause = {"active": and_(active, ~waits), "pending": waits, "disabled": ~active}[state]
    return any_row(users, and_(users.c.id == column, clause))


def has_email(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """`name` is the parameter with the pattern that `email_pattern` makes."""
    return any_row(users, and_(users.c.id == column, users.c.email_key.like(bindparam(name), escape="!")))


def email_pattern(text: str) -> str:
    escaped = email_key(text).replace("!", "!!").replace("_", "!_").replace("%", "!%")
    return f"{escaped}%"


def has_role(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    return any_row(users, and_(users.c.id == column, any_of(users.c.role, name)))


def came_from(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """`name` is the parameter with the list that `addresses_in` gives."""
    one: ColumnElement[Any] = literal_column("1")
    return or_(
        select(one).where(and_(sessions.c.user_id == column, any_of(sessions.c.last_ip, name))).exists(),
        select(one).where(and_(signups.c.user_id == column, any_of(signups.c.client_ip, name))).exists(),
    )


async def addresses_in(db: Session, text: str) -> list[str]:
    """The addresses people came from that are this one, or in this network."""
    try:
        network = ipaddress.ip_network(text.strip(), strict=False)
    except ValueError:
        return []
    if network.num_addresses == 1:
        return [str(network.network_address)]
    return [ip for ip in set(await db.slow(_addresses)) if _is_in(ip, network)]


def _is_in(ip: str, network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> bool:
    try:
        return ipaddress.ip_address(ip) in network
    except ValueError:
        return False


async def count_locales(db: Session, ids: Sequence[int]) -> list[tuple[str, int]]:
    """The languages that these people use the server in, the most used first."""
    told: dict[int, str] = dict(await db.slow(_locales_told, ids=list(ids)))
    people = await db.slow(_people, ids=list(ids))
    counted = Counter((locale_of(user) or told.get(user.id) or "en").partition("-")[0] for user in people)
    return sorted(counted.items(), key=lambda one: (-one[1], one[0]))


async def count_sources(db: Session, start: datetime, end: datetime) -> list[tuple[str, int]]:
    """By which apps people signed up; those who came by the pages have none."""
    return await db.slow(_sources, start=start, end=end)


_events = query(
    select(events)
    .where(
        and_(
            events.c.app == bindparam("app"),
            events.c.action.like(bindparam("action"), escape="!"),
            events.c.username.like(bindparam("username"), escape="!"),
        )
    )
    .order_by(events.c.created_at.desc(), events.c.event_uuid)
    .limit(bindparam("limit"))
    .offset(bindparam("offset")),
    Event,
)


async def events_of(db: Session, *, app: str, action: str, username: str, limit: int, offset: int) -> list[Event]:
    """Events of one app, the latest first; an empty action or name stands for any."""

    def exactly(text: str) -> str:
        text = text.replace("\0", "")[:150]
        return text.replace("!", "!!").replace("_", "!_").replace("%", "!%") or "%"

    return await db.slow(
        _events, app=app, action=exactly(action), username=exactly(username), limit=limit, offset=offset
    )


MOST_DAYS = 30
_DAYS = [bindparam(f"day{number}", type_=Instant()) for number in range(MOST_DAYS + 1)]
# One walk along the index of times, however many days.
_event_days = query(
    select(
        *(
            func.count().filter(and_(events.c.created_at >= start, events.c.created_at < end))
            for start, end in itertools.pairwise(_DAYS)
        )
    ).where(
        and_(
            events.c.created_at >= _DAYS[0],
            events.c.created_at < _DAYS[-1],
            events.c.app.like(bindparam("app"), escape="!"),
        )
    ),
    tuple,
)


async def events_by_day(db: Session, days: Sequence[datetime], *, app: str) -> list[int]:
    """How many events there were between each of these 31 moments and the next; an empty app stands for any."""
    given = {f"day{number}": day for number, day in enumerate(days)}
    return list((await db.slow(_event_days, app=app.replace("_", "!_") or "%", **given))[0])


def is_invited_by(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """Whether the person whose id `column` holds came by an invitation of the one whose id the parameter `name` is."""
    return any_row(signups, and_(signups.c.user_id == column, signups.c.invited_by == bindparam(name)))
