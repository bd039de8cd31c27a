"""A full disk, a real one: people still sign in and read, everything else is refused, and it passes by itself."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from urllib.parse import urlencode

import msgspec
import pytest

from kith.base import asking
from kith.base.errors import NoSpace
from kith.base.reserve import ENOUGH, FOR_KNOWN, MOST_CALLERS, MOST_OF_STRANGER, SIZE, Reserve
from tests.base.test_full_disk import picture
from tests.cli.running import kith
from tests.identity.flow_browser import SIGN_IN, Browser
from tests.town import build_town


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, in memory, which any test can fill."""
    folder = tmp_path / "disk"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=96m", "none", str(folder)]
    if os.geteuid() or subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("this user may not mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Write until nothing fits any more."""
    ballast = disk / "ballast"
    with ballast.open("ab", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            with suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass
    return ballast


async def test_people_sign_in_and_read_while_the_disk_is_full(small_disk: Path, tmp_path: Path) -> None:
    folder = small_disk / "town"
    async with build_town("sqlite", folder, start=False, confirm_email="off") as town:
        # given
        reserve = folder / "kith.sqlite3-reserve"
        reserve.write_bytes(os.urandom(SIZE))
        (folder / "server.log").symlink_to(tmp_path / "server.log")  # else it could not say that it has started
        await town.start()
        ada = await town.owner()
        key = (await town.kith("tokens", "create", ada.username, "--scopes", "read write")).strip()
        ours = {"authorization": f"Bearer {key}"}
        posted = await town.http.post("/api/v1/statuses", json={"status": "before"}, headers=ours)
        ballast = fill(small_disk)

        # when nothing fits any more
        async def post(words: str) -> int:
            return (await town.http.post("/api/v1/statuses", json={"status": words}, headers=ours)).status_code

        codes = [await post("x" * 500)]
        while codes[-1] != 507:
            if reserve.exists():
                fill(small_disk)
            codes.append(await post("x" * 500))

        # then whoever comes signs in, again and again, and reads
        for _ in range(20):
            browser = Browser(town)
            await browser.sign_in(ada)
            assert await browser.who() == ada.username
            await browser.sign_out()
            assert await browser.who() is None
        read = await town.http.get(f"/api/v1/statuses/{posted.json()['id']}", headers=ours)
        refused = await town.http.post("/api/v1/statuses", json={"status": "too much"}, headers=ours)
        upload = await town.http.post("/api/v2/media", files={"file": ("a.png", picture(), "image/png")}, headers=ours)
        checked = await kith(town, "check", "--inside", "--json")
        assert not reserve.exists()
        assert read.status_code == 200
        assert (refused.status_code, upload.status_code) == (507, 507)
        assert refused.json()["error"].startswith("The server has no room left")
        assert next(one["state"] for one in checked.json if one["check"] == "disk") == "problem"

        # it can be started again while the disk is full, before the reserve was needed
        ballast.unlink()
        await town.stop()
        reserve.write_bytes(os.urandom(SIZE))
        ballast = fill(small_disk)
        await town.start()
        browser = Browser(town)
        await browser.sign_in(ada)
        assert await browser.who() == ada.username
        assert await post("x" * 500) == 507

        # and it passes by itself
        ballast.unlink()
        assert os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize >= ENOUGH
        assert await post("after") == 200
        async with asyncio.timeout(30):
            while not reserve.exists():
                await asyncio.sleep(0.02)


async def test_strangers_use_up_nothing_of_what_is_for_all(small_disk: Path, tmp_path: Path) -> None:
    """However many runs of flows they begin, from however many addresses, each with as much as a run keeps."""
    folder = small_disk / "town"
    long = urlencode({"next": "/" + "n" * 1990, "login_hint": "h" * 1990, "again": "a" * 1990})
    async with build_town("sqlite", folder, start=False, confirm_email="off", trusted_proxies="127.0.0.1") as town:
        # given
        async def begin(address: str) -> int:
            flow, from_there = f"/api/v2/flows/executor/{SIGN_IN}/", {"x-forwarded-for": address}
            return (await town.http.get(flow, params={"query": long}, headers=from_there)).status_code

        reserve = folder / "kith.sqlite3-reserve"
        reserve.write_bytes(os.urandom(SIZE))
        (folder / "server.log").symlink_to(tmp_path / "server.log")
        await town.start()
        ada, known, new = await town.owner(), Browser(town), Browser(town)
        await known.sign_in(ada)
        await known.sign_out()
        while reserve.exists():
            fill(small_disk)
            await begin("203.0.113.1")

        # when one of them begins hundreds, and a hundred of them some
        one = [await begin("203.0.113.2") for _ in range(MOST_OF_STRANGER)]
        many = [await begin(f"198.51.100.{number % 100}") for number in range(200)]

        # then what the first ones left is used again, and whoever comes signs in
        assert one[-1] == 507
        assert set(many) == {200}
        assert shutil.disk_usage(small_disk).free >= FOR_KNOWN
        for browser in (known, new):
            await browser.sign_in(ada)
            assert await browser.who() == ada.username

        # and those who have signed in before still do where hardly anything is left
        with (small_disk / "more").open("ab") as file:
            file.write(bytes(shutil.disk_usage(small_disk).free - FOR_KNOWN // 2))
        assert await begin("198.51.100.200") == 507
        await known.sign_out()
        await known.sign_in(ada)
        assert await known.who() == ada.username


class _Entering(msgspec.Struct):
    """Somebody who wants to sign in."""

    address: str
    is_of_known: bool = False
    user_id: int | None = None
    is_entering: bool = True

    async def look_again(self) -> None: ...


def test_of_very_many_strangers_only_so_many_are_counted_and_served(small_disk: Path) -> None:
    """Whoever comes after them is refused each time, and takes no memory; somebody known is still let in."""
    (small_disk / "ballast").write_bytes(bytes(shutil.disk_usage(small_disk).free - ENOUGH // 2))
    reserve = Reserve(small_disk / "kith.sqlite3")

    def is_admitted(who: _Entering) -> bool:
        asking.answer_for(who)
        try:
            reserve.admit()
        except NoSpace:
            return False
        return True

    def enters(address: str, *, is_of_known: bool = False) -> bool:
        return copy_context().run(is_admitted, _Entering(address, is_of_known))

    first = [enters(f"10.{number >> 8 & 255}.{number & 255}.{number >> 16}") for number in range(MOST_CALLERS)]
    later = [enters("192.0.2.1") for _ in range(3)]

    assert set(first) == {True}
    assert later == [False] * 3
    assert enters("192.0.2.1", is_of_known=True)
    assert enters("10.0.0.0")
