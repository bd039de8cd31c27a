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
from itertools import islice

import msgspec
from sqlalchemy import BigInteger, Column, Integer, String, Table, and_, bindparam, delete, update

from kith.base.asking import address_key
from kith.base.db import METADATA, Command, Database, Session, command, query, upsert, writing
from kith.base.errors import Throttled, Unavailable
from kith.base.logger import Logger

__all__ = ["LimitRule", "Limiter", "Paid", "Price", "Spent", "address_key"]

_log = Logger()

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
_give_back = command(
    update(rate_counts)
    .where(
        and_(rate_counts.c.key == bindparam("of"), rate_counts.c.window == bindparam("within"), rate_counts.c.count > 0)
    )
    .values(count=rate_counts.c.count - 1)
)
_forget: Command = command(delete(rate_counts).where(rate_counts.c.ends < bindparam("now")))

SHARE_SECONDS = 1.0
SWEEP_SECONDS = 600
MOST_COUNTS = 200_000  # kept in memory; beyond that, those that began first are forgotten
LONGEST_KEY = 190


class LimitRule(msgspec.Struct, frozen=True):
    """At most `most` in `seconds`, for each key of this rule's `name`."""

    name: str
    most: int
    seconds: int


Price = tuple[LimitRule, str]  # a rule, and for whom it counts


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

    def spend(self, rule: LimitRule, who: str, count: int = 1) -> Spent | None:
        """Count one call, or so much of it; raises `Throttled` when it is too much, None when limits are off."""
        if not self._enabled:
            return None
        now = int(time.time())
        window = now // rule.seconds
        key = (_key(rule, who), window)
        spent = self._counts.get(key)
        if spent is None:
            if len(self._counts) >= MOST_COUNTS:
                self._forget_oldest()
            spent = self._counts[key] = _Count((window + 1) * rule.seconds)
        spent.mine += count
        if self._database.dialect == "postgresql":
            self._unshared[key] = self._unshared.get(key, 0) + count
        return _verdict(rule, spent.mine + spent.others, spent.ends, now)

    def _forget_oldest(self) -> None:
        """Many at once: a dictionary finds its first entry the more slowly, the more were taken out before it."""
        for key in list(islice(self._counts, MOST_COUNTS // 8)):
            del self._counts[key]
            self._unshared.pop(key, None)

    def unspend(self, rule: LimitRule, who: str) -> None:
        """Take back what `spend` has counted in this very moment: it was right."""
        key = (_key(rule, who), int(time.time()) // rule.seconds)
        count = self._counts.get(key)
        if not self._enabled or count is None or not count.mine:
            return
        count.mine -= 1
        if key in self._unshared:
            self._unshared[key] -= 1

    async def spend_strictly(self, rule: LimitRule, who: str) -> Spent | None:
        """Count one call in the database, for good, even if what it was for fails."""
        writing.refuse(f"{rule.name} is counted")
        if not self._enabled:
            return None
        now = int(time.time())
        window = now // rule.seconds
        total = await self._add(_key(rule, who), window, (window + 1) * rule.seconds, 1)
        return _verdict(rule, total, (window + 1) * rule.seconds, now)

    async def pay(self, *prices: Price) -> Paid:
        """Count one try against every one of these rules, in the database, before it is made.

        What may be tried only so often is paid for first and given back when it was right: of any number that try
        at once, no more than the rules allow are tried. One rule with nothing left raises `Throttled`, and then none
        of them has counted anything.
        """
        writing.refuse("A try is paid for")
        if not self._enabled:
            return Paid(self, [])
        now = int(time.time())
        rows = sorted((_key(rule, who), now // rule.seconds, rule) for rule, who in prices)
        session = self._database.session()
        try:
            for key, window, rule in rows:
                ends = (window + 1) * rule.seconds
                count = await session.one(_add, key=key, window=window, ends=ends, count=1)
                _verdict(rule, count or 0, ends, now)
            await session.commit()
        finally:
            await session.rollback()
        return Paid(self, [(key, window) for key, window, _rule in rows])

    async def give_back(self, rows: list[tuple[str, int]], db: Session | None) -> None:
        if db is not None:
            return await _return_all(db, rows)
        session = self._database.session()
        try:
            await _return_all(session, rows)
            await session.commit()
        finally:
            await session.rollback()
        return None

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
        swept_at = time.monotonic()
        while True:
            await asyncio.sleep(SHARE_SECONDS)
            now = int(time.time())
            self._counts = {key: count for key, count in self._counts.items() if count.ends > now}
            self._unshared = {key: count for key, count in self._unshared.items() if key in self._counts}
            try:
                await self.share()
                if time.monotonic() - swept_at >= SWEEP_SECONDS:
                    swept_at = time.monotonic()
                    await self.sweep()
            except Unavailable:
                _log.warning("limits.not_shared")

    async def share(self) -> None:
        """Add what was counted here to the database, and learn what was counted elsewhere."""
        for key in list(self._unshared):
            added, count = self._unshared.pop(key, None), self._counts.get(key)
            if added is None or count is None:
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


class Paid:
    """What was paid for one try. Whoever was right gets it back; a try that is never answered stays paid for."""

    def __init__(self, limiter: Limiter, rows: list[tuple[str, int]]) -> None:
        self._limiter = limiter
        self._rows = rows

    async def give_back(self, db: Session | None = None) -> None:
        """At once; or with the rest of `db`, where something was written already and nobody else may write now."""
        rows, self._rows = self._rows, []
        if rows:
            await self._limiter.give_back(rows, db)


async def _return_all(db: Session, rows: list[tuple[str, int]]) -> None:
    for key, window in rows:
        await db.run(_give_back, of=key, within=window)


def _key(rule: LimitRule, who: str) -> str:
    """Short enough for the table, whatever a client calls itself."""
    key = f"{rule.name}:{who}"
    if len(key) <= LONGEST_KEY:
        return key
    return f"{rule.name}:{hashlib.sha256(who.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _verdict(rule: LimitRule, count: int, ends: int, now: int) -> Spent:
    if count > rule.most:
        raise Throttled(
            max(1, ends - now),
            headers=None,
            extra={"spent": Spent(rule.most, 0, datetime.fromtimestamp(ends, UTC))},
        )
    return Spent(rule.most, rule.most - count, datetime.fromtimestamp(ends, UTC))
