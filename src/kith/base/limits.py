"""Rate limits: so many in a window, per address, person, or app.

Windows are fixed and aligned to the epoch. An ordinary rule is counted in memory, and on PostgreSQL the
processes add up their counts every second. A strict rule (sign-in, sign-up) is counted in the database at
once, so that neither a restart nor a second process gives anyone a second chance.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from datetime import UTC, datetime
from ipaddress import ip_network

import msgspec
import structlog
from sqlalchemy import BigInteger, Column, Integer, String, Table, and_, bindparam, delete, select

from kith.base.db import METADATA, Command, Database, command, query, upsert
from kith.base.errors import Throttled, Unavailable

__all__ = ["Limiter", "Rule", "Spent", "address_key"]

rate_counts = Table(
    "base_rate_counts",
    METADATA,
    Column("key", String(200), primary_key=True),
    Column("window", BigInteger, primary_key=True),
    Column("ends", BigInteger, nullable=False, index=True),
    Column("count", Integer, nullable=False),
)
_new = upsert(rate_counts).values(
    key=bindparam("key"), window=bindparam("window"), ends=bindparam("ends"), count=bindparam("count")
)
_add = query(
    _new.on_conflict_do_update(
        index_elements=[rate_counts.c.key, rate_counts.c.window],
        set_={"count": rate_counts.c.count + _new.excluded.count},
    ).returning(rate_counts.c.count),
    int,
)
_standing = query(
    select(rate_counts.c.count).where(
        and_(rate_counts.c.key == bindparam("key"), rate_counts.c.window == bindparam("window"))
    ),
    int,
)
_forget: Command = command(delete(rate_counts).where(rate_counts.c.ends < bindparam("now")))

SHARE_SECONDS = 1.0
SWEEP_SECONDS = 600
MOST_COUNTS = 200_000  # kept in memory; beyond that, those that began first are forgotten
LONGEST_KEY = 190


class Rule(msgspec.Struct, frozen=True):
    """At most `most` in `seconds`, for each key of this rule's `name`."""

    name: str
    most: int
    seconds: int


class Spent(msgspec.Struct, frozen=True):
    """Where a caller stands after a call: what the answer's headers say."""

    limit: int
    remaining: int
    resets_at: datetime


class _Count:
    __slots__ = ("ends", "mine", "others")

    def __init__(self, ends: int) -> None:
        self.ends = ends
        self.mine = 0
        self.others = 0


class Limiter:
    def __init__(self, database: Database, *, enabled: bool = True) -> None:
        self._database = database
        self._enabled = enabled
        self._counts: dict[tuple[str, int], _Count] = {}
        self._unshared: dict[tuple[str, int], int] = {}

    def spend(self, rule: Rule, who: str) -> Spent | None:
        """Count one call; raises `Throttled` when it is one too many, None when limits are off."""
        if not self._enabled:
            return None
        now = int(time.time())
        window = now // rule.seconds
        key = (_key(rule, who), window)
        count = self._counts.get(key)
        if count is None:
            if len(self._counts) >= MOST_COUNTS:
                del self._counts[next(iter(self._counts))]
            count = self._counts[key] = _Count((window + 1) * rule.seconds)
        count.mine += 1
        if self._database.dialect == "postgresql":
            self._unshared[key] = self._unshared.get(key, 0) + 1
        return _verdict(rule, count.mine + count.others, count.ends, now)

    async def spend_strictly(self, rule: Rule, who: str) -> Spent | None:
        """Count one call in the database, for good, even if what it was for fails."""
        if not self._enabled:
            return None
        now = int(time.time())
        window = now // rule.seconds
        total = await self._add(_key(rule, who), window, (window + 1) * rule.seconds, 1)
        return _verdict(rule, total, (window + 1) * rule.seconds, now)

    async def refuse_if_spent(self, rule: Rule, who: str) -> None:
        """Raise `Throttled` when a strict rule has nothing left, without counting."""
        if not self._enabled:
            return
        now = int(time.time())
        window = now // rule.seconds
        session = self._database.session()
        count = await session.one(_standing, key=_key(rule, who), window=window)
        _verdict(rule, (count or 0) + 1, (window + 1) * rule.seconds, now)

    async def _add(self, key: str, window: int, ends: int, count: int) -> int:
        session = self._database.session()
        try:
            total = await session.one(_add, key=key, window=window, ends=ends, count=count)
            await session.commit()
        finally:
            await session.rollback()
        return total or 0

    async def try_writing(self) -> None:
        """One real row, committed: raises if the database takes nothing. Limits that are off have no part in it."""
        now = int(time.time())
        await self._add("health", 0, now + SWEEP_SECONDS, 1)

    async def keep(self) -> None:
        """Share counts between processes and drop windows that have closed."""
        swept_at = time.time()
        while True:
            await asyncio.sleep(SHARE_SECONDS)
            now = int(time.time())
            self._counts = {key: count for key, count in self._counts.items() if count.ends > now}
            try:
                await self.share()
                if now - swept_at >= SWEEP_SECONDS:
                    swept_at = now
                    await self.sweep()
            except Unavailable:
                structlog.get_logger().warning("limits.not_shared")

    async def share(self) -> None:
        """Add what was counted here to the database, and learn what was counted elsewhere."""
        for key in list(self._unshared):
            added, count = self._unshared.pop(key), self._counts.get(key)
            if count is None:
                continue
            try:
                total = await self._add(key[0], key[1], count.ends, added)
            except BaseException:
                self._unshared[key] = self._unshared.get(key, 0) + added
                raise
            count.others = max(0, total - (count.mine - self._unshared.get(key, 0)))

    async def sweep(self) -> None:
        session = self._database.session()
        try:
            await session.run(_forget, now=int(time.time()))
            await session.commit()
        finally:
            await session.rollback()


def _key(rule: Rule, who: str) -> str:
    """Short enough for the table, whatever a client calls itself."""
    key = f"{rule.name}:{who}"
    if len(key) <= LONGEST_KEY:
        return key
    return f"{rule.name}:{hashlib.sha256(who.encode('utf-8', 'surrogatepass')).hexdigest()}"


def address_key(address: str) -> str:
    """Whoever has one IPv6 address usually has the whole /64 it is in."""
    if ":" not in address:
        return address
    try:
        return str(ip_network(f"{address}/64", strict=False))
    except ValueError:
        return address


def _verdict(rule: Rule, count: int, ends: int, now: int) -> Spent:
    if count > rule.most:
        raise Throttled(
            max(1, ends - now),
            headers=None,
            extra={"spent": Spent(rule.most, 0, datetime.fromtimestamp(ends, UTC))},
        )
    return Spent(rule.most, rule.most - count, datetime.fromtimestamp(ends, UTC))
