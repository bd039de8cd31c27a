"""The example community: made once, then looked at by the people it names."""

from __future__ import annotations

import asyncio
import multiprocessing
import re
import shutil
import sqlite3
from collections.abc import AsyncIterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack, closing
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
import uvloop

from kith.app import open_house
from kith.base.settings import Settings, load
from kith.cli.demo.folder import DemoFolder
from kith.cli.demo.making import DemoLogin, make
from kith.social.trends.reading import read_tags
from tests.backup.compared import rows_of_file
from tests.town import Town, postgres
from tests.town.nursery import run
from tests.web.browsing import Browser
from tests.web.crawling import Crawler


class Demo(msgspec.Struct):
    town: Town
    logins: dict[str, DemoLogin]  # by role


def _told(said: str) -> dict[str, DemoLogin]:
    found = re.findall(r"^  (owner|moderator|member) +(\w+) +(\S+)$", said, re.MULTILINE)
    return {role: DemoLogin(role, name, password) for role, name, password in found}


@pytest.fixture(scope="module")
async def demo(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Demo]:
    """As the command makes it, which has a database of its own: always SQLite."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    async with AsyncExitStack() as stack:
        town = Town("sqlite", folder, "sqlite")
        stack.push_async_callback(town.close)
        done = await run("demo", "--data", str(folder), "--only-make", environment=town.environment, patience=1800)
        assert done.code == 0, done.complained
        await town.start()
        yield Demo(town, _told(done.said))


async def _signed_in(demo: Demo, role: str) -> Browser:
    browser = Browser(demo.town)
    login = demo.logins[role]
    await browser.sign_in(login.username, login.password)
    assert await browser.is_signed_in(), role
    return browser


@pytest.mark.parametrize("role", ["owner", "moderator", "member"])
async def test_every_link_of_it_leads_somewhere(demo: Demo, role: str) -> None:
    browser = await _signed_in(demo, role)
    browser.http.headers["Accept-Language"] = "en"
    crawler = Crawler(browser, most=1)
    await crawler.crawl("/")
    assert crawler.faults == []
    assert len(crawler.opened) > 90
    assert "BEST WATCHES" not in (await browser.open("/explore/suggestions")).text


async def test_the_member_finds_a_lively_community(demo: Demo) -> None:
    browser = await _signed_in(demo, "member")
    home = (await browser.open("/home")).text
    assert home.count("<article") >= 15
    assert "Announcement" in home
    for path, words in {
        "/explore/tags": "firstfrost",
        "/explore": "<article",
        "/notifications": "followed you",
        "/conversations": "I have my own nerves",
        "/lists": "Out on the water",
        "/bookmarks": "the last ferry writes",
        "/applications": "House wiki",
        "/@juno/media": "tomatoes",
        "/about": "Be kind",
    }.items():
        assert words in (await browser.open(path)).text, path
    assert (await browser.open("/admin")).status_code == 404


def _make_until(settings: Settings, ends_at: datetime) -> None:
    """In a process of its own, for whose log it decides."""
    uvloop.run(make(msgspec.structs.replace(settings, rate_limits=False), ends_at=ends_at))


@pytest.mark.whole
async def test_a_story_that_passes_midnight_has_trends_as_well(tmp_path: Path) -> None:
    """Tags count by the day: what most people said before midnight is reckoned before it."""
    folder = DemoFolder(tmp_path / "demo", load({"KITH_BASE_URL": "http://demo.example"}, tmp_path))
    settings = folder.settings(folder.begin())
    done = await run("migrate", environment=folder.environment(settings))
    assert done.code == 0, done.complained
    ends_at = datetime.now(UTC).replace(hour=1, minute=55)

    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as elsewhere:
        await asyncio.get_running_loop().run_in_executor(elsewhere, _make_until, settings, ends_at)

    async with open_house(settings, connections=1) as house, house.works.begin() as work:
        found = await read_tags(work, limit=10, offset=0)
    assert "firstfrost" in [tag.name for tag in found]


async def test_the_owner_finds_figures_of_six_weeks(demo: Demo) -> None:
    browser = await _signed_in(demo, "owner")
    page = (await browser.open("/admin")).text
    charts = re.findall(r"<rect[^>]*height=\"([0-9.]+)\"", page)
    assert sum(float(height) > 0 for height in charts) > 60
    people = (await browser.open("/admin/people")).text
    assert "Juno Okafor" in people
    for path in ("/admin/applications", "/admin/groups", "/admin/emoji", "/admin/rules", "/admin/audit"):
        assert (await browser.open(path)).status_code == 200
    assert "taken back" in (await browser.open("/admin/appeals")).text
    assert "Workshop booking" in (await browser.open("/admin/applications")).text
    assert "sewing machine" in (await browser.open("/staff/signups/")).text


async def test_the_moderator_finds_cases(demo: Demo) -> None:
    browser = await _signed_in(demo, "moderator")
    assert "wants to sell watches" in (await browser.open("/admin/reports")).text
    assert "Everybody knows whom he means" in (await browser.open("/admin/reports?show=resolved")).text


async def test_what_was_told_stands_in_the_past(demo: Demo) -> None:
    """Ids carry the moment, so that lists by id are lists by time."""
    answer = await demo.town.http.get("/api/v1/timelines/public", params={"local": "true", "limit": 40})
    posts = answer.json()
    assert len(posts) == 40
    moments = [one["created_at"] for one in posts]
    assert moments == sorted(moments, reverse=True)
    assert len({moment[:10] for moment in moments}) > 3


async def test_nothing_of_it_waits_or_has_failed(demo: Demo) -> None:
    assert await demo.town.kith("jobs", "list", "--state", "dead", "--json") == "[]\n"


async def test_a_second_start_keeps_what_is_there(demo: Demo) -> None:
    folder = demo.town.folder
    before = (folder / "kith-demo.json").read_bytes()
    done = await run("demo", "--data", str(folder), "--only-make", environment=demo.town.environment)

    assert done.code == 0, done.complained
    assert _told(done.said) == demo.logins
    assert (folder / "kith-demo.json").read_bytes() == before


async def test_it_moves_to_postgresql_and_back(demo: Demo, tmp_path: Path) -> None:
    """While it is served, a copy of its database moves: whatever a lively community has is there again."""
    names = [folder / "kith.sqlite3" for folder in (demo.town.folder, tmp_path)]
    with closing(sqlite3.connect(names[0])) as source, closing(sqlite3.connect(names[1])) as copy:
        source.backup(copy)
        copy.execute("UPDATE base_id_slots SET leased_until = '2026-01-01T00:00:00.000000Z'")
        copy.commit()
    shutil.copytree(demo.town.folder / "keys", tmp_path / "keys")
    before = rows_of_file(tmp_path / "kith.sqlite3")
    async with postgres.fresh_database() as url, AsyncExitStack() as stack:
        there = Town("postgresql", tmp_path, url)
        stack.push_async_callback(there.close)

        done = await run("move", "--to", url, environment=there.environment | {"KITH_DATABASE": "sqlite"})
        assert done.code == 0, done.complained
        await there.kith("move", "--to", f"sqlite:///{tmp_path}/back.sqlite3")

        assert rows_of_file(tmp_path / "back.sqlite3") == before
        assert sum(map(len, before.values())) > 8000
        await there.start()
        browser = await _signed_in(Demo(there, demo.logins), "member")
        assert (await browser.open("/home")).text.count("<article") >= 15
        assert "Retired ferry captain" in (await browser.open("/search?q=ferry")).text


async def test_a_demo_is_served_where_its_links_lead(demo: Demo) -> None:
    elsewhere = demo.town.environment | {"KITH_BASE_URL": "http://elsewhere.example"}
    done = await run("demo", "--data", str(demo.town.folder), environment=elsewhere | {"KITH_BIND": "127.0.0.1:1"})

    assert done.code == 1
    assert f"made for {demo.town.base_url}: add --anew" in done.complained


async def test_what_a_demo_did_not_make_is_left_alone(tmp_path: Path) -> None:
    kept = tmp_path / "kith.sqlite3"
    kept.write_bytes(b"dear to somebody")
    for words in ((), ("--anew",)):
        done = await run("demo", "--data", str(tmp_path), "--only-make", *words, environment={})
        assert done.code == 1
        assert "was not made by `kith demo`" in done.complained
    assert [path.name for path in tmp_path.iterdir()] == ["kith.sqlite3"]
