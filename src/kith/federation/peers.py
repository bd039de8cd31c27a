"""Other servers, as the operator sees them: searched, narrowed and paged by the database."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    Text,
    and_,
    bindparam,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
    union,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from kith.base.db import Instant, Query, any_of, query
from kith.base.work import Work
from kith.federation.delivery import operators
from kith.federation.delivery.tables import deliveries, hosts
from kith.federation.gate.rules import Lists
from kith.social.accounts.tables import accounts
from kith.social.admission import store as admission
from kith.social.admission.tables import server_allows, server_blocks
from kith.social.remote_servers import names_above

__all__ = ["STATES", "Peer", "PeersFound", "every_peer", "find_peer", "find_peers"]

STATES = ("ok", "slow", "failing", "paused", "unavailable", "troubled", "waiting", "blocked")
_SERVER = "Application"  # what servers are that sign for themselves: they are no people
_domain: ColumnElement[Any] = bindparam("domain", type_=Text())
_counts = query(
    select(accounts.c.domain, func.count().filter(accounts.c.actor_type != _SERVER))
    .where(any_of(accounts.c.domain, "domains"))
    .group_by(accounts.c.domain),
    tuple,
)
_allowed = query(select(server_allows.c.domain).where(any_of(server_allows.c.domain, "domains")), str)
_is_known = query(
    select(literal_column("1", Integer)).where(
        or_(
            *(
                exists(select(table.c.domain).where(table.c.domain == _domain))
                for table in (accounts, hosts, deliveries, server_blocks, server_allows)
            )
        )
    ),
    int,
)
_waiting = query(select(func.count()).select_from(deliveries), int)


class Peer(msgspec.Struct, frozen=True):
    """`accounts` are people and bots; `state` is how deliveries go.

    `block` is how severe the team was, `allowed` whether it is on the list.
    """

    domain: str
    accounts: int
    state: str
    waiting: int
    block: str | None
    allowed: bool
    error: str | None


class PeersFound(msgspec.Struct, frozen=True):
    """`total` counts all that fit, `known` all; `waiting` is what is to be delivered to any server."""

    total: int
    known: int
    waiting: int
    troubled: int
    peers: list[Peer]


class _BehindDot(FunctionElement[str]):
    """What is left of a name without its first label; empty for the last one."""

    inherit_cache = True
    type = Text()
    name = "behind_dot"


@compiles(_BehindDot, "sqlite")
def _behind_in_sqlite(element: _BehindDot, compiler: SQLCompiler, **options: object) -> str:
    name = compiler.process(element.clauses, **options)
    return f"CASE WHEN instr({name}, '.') > 0 THEN substr({name}, instr({name}, '.') + 1) ELSE '' END"


@compiles(_BehindDot, "postgresql")
def _behind_in_postgres(element: _BehindDot, compiler: SQLCompiler, **options: object) -> str:
    name = compiler.process(element.clauses, **options)
    return f"CASE WHEN strpos({name}, '.') > 0 THEN substr({name}, strpos({name}, '.') + 1) ELSE '' END"


def _known() -> Any:
    """Every server of which somebody is known here, that something was sent to, or that is blocked or allowed.

    Those of people are found by one step in an index for each of them, however many people they have.
    """
    first = select(func.min(accounts.c.domain).label("domain")).where(accounts.c.domain > literal_column("''"))
    of_people = first.cte("of_people", recursive=True)
    following = select(func.min(accounts.c.domain)).where(accounts.c.domain > of_people.c.domain).scalar_subquery()
    of_people = of_people.union_all(select(following).where(of_people.c.domain.is_not(None)))
    tables = (hosts, deliveries, server_blocks, server_allows)
    return union(
        select(of_people.c.domain).where(of_people.c.domain.is_not(None)), *(select(table.c.domain) for table in tables)
    ).cte("known")


def _is_in_state(known: Any, state: str) -> ColumnElement[bool]:
    """As `operators` tells it of one host."""
    if state == "waiting":
        return exists(select(deliveries.c.domain).where(deliveries.c.domain == known.c.domain))
    if state == "blocked":
        column: ColumnElement[Any] = known.c.domain
        return column.in_(_blocked(known))
    given_up = hosts.c.unavailable_since.is_not(None)
    is_paused = func.coalesce(hosts.c.paused_until > bindparam("now", type_=Instant()), literal_column("false"))
    fails, is_slow = hosts.c.failures > 0, hosts.c.is_slow
    clauses = {
        "unavailable": given_up,
        "paused": and_(~given_up, is_paused),
        "failing": and_(~given_up, ~is_paused, fails),
        "slow": and_(~given_up, ~is_paused, ~fails, is_slow),
        "troubled": or_(given_up, is_paused, fails),
        "ok": or_(given_up, is_paused, fails, is_slow),
    }
    found = exists(select(hosts.c.domain).where(and_(hosts.c.domain == known.c.domain, clauses[state])))
    return ~found if state == "ok" else found


def _blocked(known: Any) -> Select[Any]:
    """A block counts for the servers below it too."""
    start = select(known.c.domain, known.c.domain.label("name"))
    above = start.cte("above", recursive=True)
    above = above.union_all(select(above.c.domain, _BehindDot(above.c.name)).where(above.c.name != literal("")))
    return select(above.c.domain).join(server_blocks, server_blocks.c.domain == above.c.name)


def _fitting(known: Any, state: str, *, searched: bool) -> list[ColumnElement[bool]]:
    clauses = [known.c.domain.like(bindparam("words", type_=Text()), escape="!")] if searched else []
    return [*clauses, _is_in_state(known, state)] if state else clauses


@lru_cache(32)
def _page(state: str, *, searched: bool) -> Query[str]:
    known = _known()
    found = select(known.c.domain).where(*_fitting(known, state, searched=searched)).order_by(known.c.domain)
    return query(found.limit(bindparam("most")).offset(bindparam("skip")), str)


@lru_cache(32)
def _count(state: str, *, searched: bool) -> Query[int]:
    known = _known()
    return query(select(func.count()).select_from(known).where(*_fitting(known, state, searched=searched)), int)


async def find_peers(work: Work, words: str = "", state: str = "", *, offset: int, most: int) -> PeersFound:
    """Those with `words` in their name that are in a state, by name; none where there is no such state."""
    known = await _counted(work, "")
    troubled = await _counted(work, "troubled")
    waiting = await work.db.slow(_waiting)
    if state and state not in STATES:
        return PeersFound(0, known, waiting[0], troubled, [])
    total = await _counted(work, state, words) if words or state else known
    values = {"most": most, "skip": offset, "now": work.now, "words": _pattern(words)}
    domains = await work.db.slow(_page(state, searched=bool(words)), **values)
    return PeersFound(total, known, waiting[0], troubled, await _peers(work, domains))


async def find_peer(work: Work, domain: str) -> Peer | None:
    if await work.db.one(_is_known, domain=domain) is None:
        return None
    [peer] = await _peers(work, [domain])
    return peer


async def every_peer(work: Work) -> list[Peer]:
    return await _peers(work, sorted(await work.db.slow(_page("", searched=False), most=1 << 62, skip=0)))


async def _counted(work: Work, state: str, words: str = "") -> int:
    [count] = await work.db.slow(_count(state, searched=bool(words)), now=work.now, words=_pattern(words))
    return count


async def _peers(work: Work, domains: Sequence[str]) -> list[Peer]:
    named = list(domains)
    counts: dict[str, int] = dict(await work.db.slow(_counts, domains=named))
    reports = await operators.find_hosts(work, named)
    above = sorted({name for domain in named for name in names_above(domain)})
    blocks = Lists({one.domain: one for one in await admission.blocks_among(work.db, above)})
    allowed = set(await work.db.slow(_allowed, domains=named))
    found = []
    for domain in named:
        host, rule = reports.get(domain), blocks.block_of(domain)
        found.append(
            Peer(
                domain=domain,
                accounts=counts.get(domain, 0),
                state="ok" if host is None else host.state,
                waiting=0 if host is None else host.waiting,
                block=None if rule is None else rule.severity,
                allowed=domain in allowed,
                error=None if host is None else host.error,
            )
        )
    return found


def _pattern(words: str) -> str:
    escaped = words.replace("!", "!!").replace("_", "!_").replace("%", "!%")
    return f"%{escaped}%"
