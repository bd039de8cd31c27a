"""The figures of the dashboard, from what is there now, and their pictures: bars, drawn on the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

import msgspec

from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.social.admin.measures import measure
from kith.social.admin.periods import Period, midnight
from kith.social.instance import store as instance
from kith.web.admin.console_rights import ConsoleRights
from kith.web.levels import store as levels
from kith.web.levels.reading import read_levels
from kith.web.translation import translatable

__all__ = ["DAYS", "DayChart", "ServerLevel", "charts_for", "human_size", "levels_for"]

DAYS = 30
HEIGHT = 60
WIDTH = 8
FULL = 0.9  # of the disk: then it is time to do something
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
    said: str


class DayChart(msgspec.Struct, frozen=True):
    """Figures of the last days; `total` is that of all days together, and `most` that of the tallest bar."""

    words: str
    bars: tuple[DayBar, ...]
    total: int
    most: int
    kind: str = ""


class ServerLevel(msgspec.Struct, frozen=True):
    """How full something is, or only how much of it there is (where `share` is None), and the most of each day."""

    words: str
    said: str
    bars: tuple[DayBar, ...]
    most: str
    share: float | None = None
    is_bad: bool = False


def draw(
    words: str,
    days: Sequence[str],
    counts: Mapping[str, int],
    kind: str = "",
    *,
    total: int | None = None,
    say: Callable[[int], str] = str,
) -> DayChart:
    """`total` where it is not the sum: whoever is active on two days is one person."""
    values = [counts.get(day, 0) for day in days]
    most = max(values, default=0)
    bars = tuple(
        _bar(place, day, value, most, say(value)) for place, (day, value) in enumerate(zip(days, values, strict=True))
    )
    return DayChart(words, bars, sum(values) if total is None else total, most, kind)


def _bar(place: int, day: str, value: int, most: int, said: str) -> DayBar:
    height = round(HEIGHT * value / most, 1) if most else 0.0
    return DayBar(place * (WIDTH + 2), HEIGHT - height, height, day, value, said)


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
    now = await read_levels(work)
    today = work.now.date()
    days = [day.isoformat() for day in Period(today - timedelta(days=DAYS - 1), today).days()]
    past = await levels.find_since(work.db, days[0])

    def level(
        words: str, name: str, value: int, *, size: int = 0, is_bad: bool = False, say: Callable[[int], str] = str
    ) -> ServerLevel:
        known = past.get(name, {})
        known[days[-1]] = max(known.get(days[-1], 0), value)
        drawn = draw(words, days, known, say=say)
        said = f"{say(value)} / {say(size)}" if size else say(value)
        return ServerLevel(words, said, drawn.bars, say(drawn.most), value / size if size else None, is_bad)

    return [
        level(
            translatable("Disk in use"), "disk", now.disk, size=now.disk_size,
            is_bad=now.disk > FULL * now.disk_size, say=human_size,
        ),
        level(translatable("Memory of this process"), "memory", now.memory, size=now.memory_size, say=human_size),
        level(translatable("Jobs waiting"), "jobs", now.jobs),
        level(translatable("Jobs failed"), "jobs_failed", now.jobs_failed, is_bad=now.jobs_failed > 0),
        level(translatable("Deliveries waiting"), "deliveries", now.deliveries),
    ]  # fmt: skip


def human_size(size: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if size < 999.5:  # three digits are written
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.4g} TB"
