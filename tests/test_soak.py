"""The soak keeps working: a short one with a kill finds nothing wrong, and what is wrong is found."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from soak.acts import Community
from soak.checks import check
from soak.community import Size
from soak.ledger import Ledger, Post
from soak.people import Person
from soak.plan import KINDS, plan
from soak.run import Options, soak
from soak.snapshot import AccountRow, NoticeRow, PairRow, Snapshot, StatusRow
from soak.windows import Windows

ADA, BOB = "ada@here", "bob@here"


async def test_a_short_soak_with_a_kill_finds_nothing_wrong(tmp_path: Path) -> None:
    told: list[str] = []
    options = Options(
        engine="sqlite", seconds=5, faults=("kill",), seed=1, folder=tmp_path, size=Size(here=2, there=1, shy=1)
    )

    report = await soak(options, asyncio.Event(), told.append)

    assert report.violations == [], told
    assert [one["kind"] for one in report.faults] == ["kill"]
    assert report.posts.get("there", 0) > 0
    assert report.kinds["post"]["asked"] > 0


def test_the_same_seed_plans_the_same_faults() -> None:
    hour = plan(3, 3600, KINDS)

    assert hour == plan(3, 3600, KINDS)
    assert {one.kind for one in hour} == set(KINDS)
    assert max(one.at for one in hour if one.kind == "kill") < 0.6 * 3600
    assert plan(3, 3600, ()) == []


def test_what_happens_in_a_fault_is_forgiven_and_nothing_else() -> None:
    windows = Windows()
    assert windows.is_calm
    window = windows.open("kill", grace_seconds=0.0)
    assert windows.since(window.began_at) == "kill"
    windows.close(window)
    assert window.ended_at is not None
    assert windows.since(window.began_at) == "kill"
    assert windows.since(window.ended_at + 0.001) == ""


# What the checks find


def _people() -> Community:
    site = SimpleNamespace(name="here", host="here")
    ada, bob = (
        cast("Person", SimpleNamespace(site=site, name=name, handle=f"{name}@here", id=id, known={}))
        for name, id in (("ada", "1"), ("bob", "2"))
    )
    return Community(1, [ada, bob], [])


def _rows(**differing: Any) -> Snapshot:
    """Ada has posted, mentioning Bob, who has favourited it."""
    status = StatusRow(10, 1, "u/10", 0, "<p>m1x1 hello</p>", None, None, 0, 0, 1, None)
    held: dict[str, Any] = {
        "site": "here",
        "statuses": [status],
        "accounts": [AccountRow(1, "u/1", "ada", "", 1, 1, 1), AccountRow(2, "u/2", "bob", "", 0, 1, 1)],
        "favourites": [PairRow(2, 10)],
        "bookmarks": [],
        "follows": [PairRow(1, 2), PairRow(2, 1)],
        "blocks": [],
        "notices": [NoticeRow(2, 1, "mention", 10), NoticeRow(1, 2, "favourite", 10)],
        "feeds": {2: [10]},
        "jobs": [],
        "deliveries": [],
    }
    return Snapshot(**(held | differing))


def _kept(file: Path) -> Ledger:
    ledger = Ledger(file)
    sent = {"visibility": "public"}
    ledger.posts["m1x1"] = Post("m1x1", "here", ADA, "key", sent, 0.0, "10", "u/10", True, "m1x1 hello", (BOB,))
    ledger.set("favourite", BOB, "m1x1", True)
    return ledger


def _deleted(ledger: Ledger) -> None:
    ledger.posts["m1x1"].there = False


def _unknown(ledger: Ledger) -> None:
    ledger.posts["m1x1"].there = None


_again = StatusRow(11, 1, "u/11", 0, "<p>m1x1 hello</p>", None, None, 0, 0, 0, None)


@pytest.mark.parametrize(
    ("rows", "change", "rules"),
    [
        ({}, None, []),
        ({"statuses": [], "favourites": [], "notices": [], "feeds": {}}, None, ["lost", "a count is wrong"]),
        ({"statuses": [*_rows().statuses, _again]}, None, ["doubled", "a count is wrong"]),
        ({}, _deleted, ["there although it must not be"]),
        ({}, _unknown, []),
        ({"favourites": []}, None, ["lost", "a count is wrong"]),
        ({"notices": _rows().notices[:1]}, None, ["lost"]),
        ({"notices": _rows().notices * 2}, None, ["doubled", "doubled"]),
        ({"feeds": {}}, None, ["lost"]),
        ({"follows": [PairRow(1, 2)]}, None, ["lost", "a count is wrong", "a count is wrong"]),
    ],
)
def test_what_is_lost_or_doubled_is_found(
    tmp_path: Path, rows: dict[str, Any], change: Callable[[Ledger], None] | None, rules: list[str]
) -> None:
    ledger = _kept(tmp_path / "ledger.jsonl")
    if change is not None:
        change(ledger)

    found = check(ledger, _people(), [_rows(**rows)], is_end=True)

    assert [rule for rule, _ in found] == rules
    ledger.close()
