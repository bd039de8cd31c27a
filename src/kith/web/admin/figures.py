"""The figures of the dashboard, from what is there now, and their pictures: bars, drawn on the server."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import msgspec
from sqlalchemy import func, select

from kith.base.db import METADATA, Query, query
from kith.base.exchange import Exchange
from kith.base.jobs import store as jobs
from kith.base.jobs.tables import DEAD
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.social.admin.measures import measure
from kith.social.admin.periods import Period, midnight
from kith.social.instance import store as instance
from kith.web.admin.console_rights import ConsoleRights
from kith.web.translation import translatable

__all__ = ["DAYS", "DayChart", "ServerLevel", "charts_for", "levels_for"]

DAYS = 30
HEIGHT = 60
WIDTH = 8
_MEASURES = (
    ("active_users", translatable("People active")),
    ("new_users", translatable("New people")),
    ("opened_reports", translatable("Reports")),
)


class DayBar(msgspec.Struct, frozen=True):
    x: int
    y: float
    height: float
    day: str
    value: int


class DayChart(msgspec.Struct, frozen=True):
    """Figures of the last days; `total` is that of all days together, and `most` that of the tallest bar."""

    words: str
    bars: tuple[DayBar, ...]
    total: int
    most: int
    kind: str = ""


class ServerLevel(msgspec.Struct, frozen=True):
    """How full something is, or only how much of it there is (where `share` is None)."""

    words: str
    said: str
    share: float | None = None
    is_bad: bool = False


def draw(
    words: str, days: Sequence[str], counts: Mapping[str, int], kind: str = "", *, total: int | None = None
) -> DayChart:
    """`total` where it is not the sum: whoever is active on two days is one person."""
    values = [counts.get(day, 0) for day in days]
    most = max(values, default=0)
    bars = tuple(_bar(place, day, value, most) for place, (day, value) in enumerate(zip(days, values, strict=True)))
    return DayChart(words, bars, sum(values) if total is None else total, most, kind)


def _bar(place: int, day: str, value: int, most: int) -> DayBar:
    height = round(HEIGHT * value / most, 1) if most else 0.0
    return DayBar(place * (WIDTH + 2), HEIGHT - height, height, day, value)


async def charts_for(work: Work, rights: ConsoleRights) -> list[DayChart]:
    today = work.now.date()
    period = Period(today - timedelta(days=DAYS - 1), today)
    days = [day.isoformat() for day in period.days()]
    found: list[DayChart] = []
    if rights.may("view_dashboard"):
        told = await measure(work, [key for key, _ in _MEASURES], period, {})
        for (_, words), one in zip(_MEASURES, told, strict=True):
            counts = {str(entry["date"])[:10]: int(entry["value"]) for entry in one["data"]}
            found.append(draw(words, days, counts, total=int(one["total"])))
        posts = await instance.counted(work.db, "statuses", days[0])
        found.insert(2, draw(translatable("Posts"), days, posts))
    if rights.may("audit.view_event"):
        for failed, words in ((False, translatable("Sign-ins")), (True, translatable("Failed sign-ins"))):
            counts = await identity.sign_ins_by_day(work, midnight(period.first), failed=failed)
            found.append(draw(words, days, counts, "bad" if failed else ""))
    return found


async def levels_for(exchange: Exchange, rights: ConsoleRights) -> list[ServerLevel]:
    """Disk, memory, jobs and deliveries: for those who look after the machine."""
    if not rights.may("view_devops") and not rights.is_superuser:
        return []
    work = exchange.work
    disk = shutil.disk_usage(work.settings.data)
    used = disk.used / disk.total
    weight, total = _weight(), os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    waiting, dead = await _jobs(work)
    [deliveries] = await work.db.slow(_waiting("federation_deliveries"))
    return [
        ServerLevel(translatable("Disk in use"), f"{_human(disk.used)} / {_human(disk.total)}", used, used > 0.9),
        ServerLevel(translatable("Memory of this process"), f"{_human(weight)} / {_human(total)}", weight / total),
        ServerLevel(translatable("Jobs waiting"), str(waiting), None),
        ServerLevel(translatable("Jobs failed"), str(dead), None, dead > 0),
        ServerLevel(translatable("Deliveries waiting"), str(deliveries), None),
    ]


async def _jobs(work: Work) -> tuple[int, int]:
    counts = await jobs.counts(work.db)
    dead = sum(count for _, state, count, _ in counts if state == DEAD)
    return sum(count for _, state, count, _ in counts if state != DEAD), dead


def _waiting(name: str) -> Query[int]:
    """The table is named, for pages and federation do not know each other."""
    return query(select(func.count()).select_from(METADATA.tables[name]), int)


def _weight() -> int:
    """In bytes; 0 where the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _human(size: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} TB"
