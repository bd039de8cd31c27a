"""How full the server was is noted down by the worker, and shown day by day."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from kith.base.db import command, insert_into
from kith.web.admin.figures import human_size
from kith.web.levels import store
from kith.web.levels.tables import levels
from kith.web.levels.tasks import KEPT, NAMES, NoteLevels, note
from tests.town import Town
from tests.web.browsing import Browser

_add = command(insert_into(levels))


async def test_the_most_of_each_day_is_kept_for_half_a_year(town: Town, browser: Browser) -> None:
    async with town.house() as house:
        async with house.works.begin() as work:
            today = work.now.date()
            yesterday, long_ago = today - timedelta(days=1), today - KEPT - timedelta(days=1)
            rows = [{"day": day.isoformat(), "name": "disk", "most": 1 << 50} for day in (yesterday, long_ago)]
            await work.db.many(_add, rows)
            await store.note(work.db, today.isoformat(), "jobs", 7)
            await store.note(work.db, today.isoformat(), "jobs", 4)
        async with house.works.begin() as work:
            await note(work, NoteLevels())
        async with house.works.begin() as work:
            found = await store.find_since(work.db, "2000-01-01")

    assert set(found) == set(NAMES)
    assert found["jobs"][today.isoformat()] >= 7
    assert found["memory"][today.isoformat()] > 1 << 20
    assert min(found["disk"]) == yesterday.isoformat()
    owner = await town.owner()
    await browser.sign_in(owner.username, owner.password)
    page = (await browser.open("/admin")).text
    assert "Disk in use: the most of each day, at most 1024 TB" in page
    assert f"<title>{yesterday}: 1024 TB</title>" in page
    assert re.search(rf"<title>{today}: \d+</title>", page)


@pytest.mark.parametrize(
    ("size", "said"),
    [(0, "0 B"), (999, "999 B"), (1000, "0.977 KB"), (1023, "0.999 KB"), (1 << 20, "1 MB"), (1 << 50, "1024 TB")],
)
def test_sizes_have_three_digits(size: int, said: str) -> None:
    assert human_size(size) == said
