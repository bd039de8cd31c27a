"""SQLite walks along a page, and begins with what is few: neither all statuses nor a sort of them.

It is never told how many rows there are, so its plans for an empty database are those for a large one.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from kith.base.db import Query
from kith.base.paging import Cursor
from kith.base.settings import load
from kith.social.id_lists import IdList
from kith.social.search.queries import STEPS, StatusSearchForm, account_by_url, status_by_url
from kith.social.search.queries import _statuses as search_statement
from kith.social.timelines.reading import _of_account as account_list
from kith.social.timelines.reading import _public as public_list
from kith.social.timelines.reading import _tagged as tag_list
from kith.social.trends.reading import _statuses as trend_statement
from kith.social.trends.requests import _status_candidates as trend_candidates
from tests.social.test_plans import LISTS
from tests.statements import all_statements
from tests.town import Town

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)

_WHOSE: tuple[dict[str, bool], ...] = (
    {},
    {"local": True},
    {"remote": True},
    {"only_media": True},
    {"local": True, "only_media": True},
)


def _forms() -> Iterator[tuple[str, IdList]]:
    """Each list in every form that a request may ask for."""
    for anonymous, more in itertools.product((False, True), _WHOSE):
        plain = {"anonymous": anonymous} | dict.fromkeys(("local", "remote", "only_media"), False) | more
        yield f"public {anonymous} {more}", public_list(**plain)
        for required, unwanted in itertools.product((0, 1), (False, True)):
            tagged = tag_list(**plain, required=required, unwanted=unwanted)
            yield f"tag {anonymous} {more} {required} {unwanted}", tagged
    names = ("anonymous", "only_media", "no_replies", "no_boosts", "no_direct", "own")
    for chosen in itertools.product((False, True), repeat=len(names)):
        yield f"account {chosen}", account_list(tagged=False, **dict(zip(names, chosen, strict=True)))


WALKED = LISTS | dict(_forms())
CURSORS = (
    Cursor(20), Cursor(20, max_id=9), Cursor(20, since_id=5), Cursor(20, max_id=9, since_id=5), Cursor(20, min_id=5),
    Cursor(20, max_id=9, min_id=5), Cursor(7, max_id=9, since_id=5),
)  # fmt: skip


@pytest.fixture
def database(town: Town) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(load(town.environment).sqlite_path)) as opened:
        yield opened


def plan_of(database: sqlite3.Connection, statement: Query[Any]) -> list[str]:
    sql = statement.compiled("sqlite").sql
    return [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * sql.count("?"))]


def read_whole(plan: list[str]) -> list[str]:
    """What goes through all statuses; along an index of public ones is how public pages are walked."""
    return [step for step in plan if step == "SCAN s" or step.startswith(("SCAN s ", "SCAN social_statuses"))]


@pytest.mark.parametrize("cursor", CURSORS, ids=lambda one: f"{one.limit}-{one.max_id}-{one.since_id}")
def test_a_page_is_walked(database: sqlite3.Connection, cursor: Cursor) -> None:
    for name, walked in WALKED.items():
        statement, _moves = walked.page_form(cursor)
        plan = plan_of(database, statement)

        assert not [step for step in plan if "TEMP B-TREE" in step], (name, plan)
        assert name.startswith(("public", "local", "media")) or not read_whole(plan), (name, plan)


def test_trends_begin_with_what_has_a_score(database: sqlite3.Connection) -> None:
    statements: list[Query[Any]] = [trend_candidates]
    statements += [trend_statement(anonymous=one, all_of_them=False) for one in (False, True)]
    for statement in statements:
        plan = plan_of(database, statement)
        assert plan
        assert not read_whole(plan), plan


@pytest.mark.parametrize(("within", "of_author"), [("all", False), ("all", True), ("library", False)])
def test_a_search_begins_with_words_or_with_the_person(
    database: sqlite3.Connection, within: str, of_author: bool
) -> None:
    form = StatusSearchForm(
        within, has_wanted=True, has_unwanted=False, filters=(), of_author=of_author, by_text=of_author or within == "library", step=STEPS[0]  # type: ignore[arg-type]
    )  # fmt: skip
    plan = plan_of(database, search_statement(form))

    assert plan
    assert not read_whole(plan), plan


@pytest.mark.parametrize("statement", [status_by_url, account_by_url], ids=["status", "account"])
def test_an_address_is_looked_up(database: sqlite3.Connection, statement: Query[Any]) -> None:
    plan = plan_of(database, statement)

    assert plan
    assert not [step for step in plan if step.startswith("SCAN")], plan


_ADDED_TO_BY_OTHERS = ("federation.", "social.emojis.", "social.featured.", "social.statuses.cards.")
# Of which nothing is read by what other servers send: people beside the loop, a member's own thousand newest posts.
_SORTED = {"kith.federation.people.store._stale", "kith.social.featured.store._liked"}


def test_what_other_servers_add_to_without_end_is_not_sorted_to_read_a_few(database: sqlite3.Connection) -> None:
    """Else each of what they send costs as much as all that they have sent before."""
    sort = {
        name
        for name, statement in all_statements().items()
        if name.removeprefix("kith.").startswith(_ADDED_TO_BY_OTHERS)
        and isinstance(statement, Query)
        and "LIMIT" in statement.compiled("sqlite").sql
        and any("TEMP B-TREE FOR ORDER BY" in step for step in plan_of(database, statement))
    }

    assert sort == _SORTED
