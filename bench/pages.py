"""Pages: what a member's home costs as HTML beside the same as JSON, and how long an administrator waits for lists."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import httpx

from bench.page_lists import LISTS
from bench.people import PEOPLE, fill
from bench.report import Result, Target, result
from bench.stage import Candidate
from tests.social.members import Member, join
from tests.social.posts import arrive, post
from tests.town import Person, Town, build_town
from tests.web.browsing import Browser

HOME_TARGET = Target(most=3, of_ratio=True)
LIST_TARGET = Target(most=200)
POSTS = 25
_WORDS = "Post number {n} with some words, a link https://example.org/{n} and a #tag{tag}"


async def measure(folder: Path, *, quick: bool) -> list[Result]:
    async with build_town("sqlite", folder / "pages") as town:
        found = await _home(town, rounds=3 if quick else 9, seconds=1.0 if quick else 3.0)
    async with build_town("sqlite", folder / "lists") as town:
        owner = await town.owner()
        await fill(town, PEOPLE // (10 if quick else 1))
        return found + await _lists(town, owner, rounds=3 if quick else 9)


async def _home(town: Town, *, rounds: int, seconds: float) -> list[Result]:
    ada = await _reader(town)
    cookie = await _cookie(town, Person(town.http, ada.name, f"correct horse {ada.name}"))
    asked = (
        Candidate("pages.home.json", town.pid, town.port, "/api/v1/timelines/home", bearer=ada.token),
        Candidate("pages.home.html", town.pid, town.port, "/home", cookie=cookie),
    )
    costs: dict[str, list[float]] = {one.name: [] for one in asked}
    for number in range(rounds + 1):
        for one in asked:
            burst = await one.burst(seconds)
            if number:  # the first only warms it
                costs[one.name].append(burst.cpu_us)
    json = costs["pages.home.json"]
    return [
        result("pages.home.json", json, "µs/request"),
        result(
            "pages.home.html", costs["pages.home.html"], "µs/request",
            baseline=("pages.home.json", json), target=HOME_TARGET,
        ),
    ]  # fmt: skip


async def _reader(town: Town) -> Member:
    """Somebody whose home is full."""
    ada, bob = await join(town), await join(town)
    await arrive(ada, bob)
    await ada.to(bob, "follow")
    for number in range(POSTS):
        await post(bob, _WORDS.format(n=number, tag=number % 5))
    await arrive(ada)
    return ada


async def _cookie(town: Town, person: Person) -> str:
    browser = Browser(town)
    try:
        await browser.sign_in(person.username, person.password)
        return "; ".join(f"{name}={value}" for name, value in browser.http.cookies.items())
    finally:
        await browser.close()


async def _lists(town: Town, owner: Person, *, rounds: int) -> list[Result]:
    """Slowest first; the number in an address makes it new, so that no kept answer is measured."""
    cookie = await _cookie(town, owner)
    times: dict[str, list[float]] = {address: [] for address in LISTS}
    token = cookie.partition("kith_csrf=")[2].partition(";")[0]
    headers = {"cookie": cookie, "x-csrf-token": token}  # as scripts of ours send it
    async with httpx.AsyncClient(base_url=town.base_url, headers=headers, timeout=60) as http:
        for number in range(rounds + 1):
            for address in LISTS:
                fresh = f"{address.format(n=number)}{'&' if '?' in address else '?'}fresh={number}"
                started_at = time.perf_counter()
                answer = await http.get(fresh)
                if number:
                    times[address].append((time.perf_counter() - started_at) * 1000)
                answer.raise_for_status()
    slowest = sorted(times.items(), key=lambda one: -statistics.median(one[1]))
    return [result(f"pages.{address}", values, "ms", target=LIST_TARGET) for address, values in slowest]
