"""PostgreSQL reads as many rows as a page needs, not all there are, also where it plans without knowing the values.

It does so from the sixth time on that a connection runs a statement, and then reckons with what is usual for columns.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import asyncpg
import msgspec
import pytest

from bench.community import Community, Size, seed
from kith.base.db import Query
from kith.base.paging import Cursor
from kith.federation.documents.store import _replies_to as answers_of
from kith.federation.documents.store import _said as said_in
from kith.social.notifications.groups import _count as groups_count
from kith.social.notifications.groups import _heads as groups_list
from kith.social.search.index_queries import bound
from kith.social.search.queries import LARGEST_ID, STEPS, StatusSearchForm, status_by_url
from kith.social.search.queries import _statuses as search_statement
from kith.social.search.words import to_term
from kith.social.timelines.reading import _direct as direct_list
from kith.social.timelines.reading import _home as home_list
from kith.social.timelines.reading import _of_account as account_list
from kith.social.timelines.reading import _public as public_list
from tests.town import Town, build_town
from tests.town.town import Engine

pytestmark = pytest.mark.parametrize("engine", ["postgresql"], indirect=True)

SIZE = Size(members=20, follows=100, statuses=20_000)
MOST_ROWS = 3_000
LARGE = ("social_statuses", "social_status_words")


class Grown(NamedTuple):
    connection: asyncpg.Connection[Any]
    community: Community


@pytest.fixture(scope="module")
async def grown(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Grown]:
    async with build_town(engine, tmp_path_factory.mktemp("plans"), start=False) as town:
        async with town.house() as house:
            community = await seed(house, SIZE)
        connection = await connected(town)
        await connection.execute("ANALYZE")
        yield Grown(connection, community)
        await connection.close()


async def connected(town: Town) -> asyncpg.Connection[Any]:
    settings = {"jit": "off", "plan_cache_mode": "force_generic_plan"}
    return await asyncpg.connect(town.database, server_settings=settings, statement_cache_size=0)


async def rows_read(
    grown: Grown, statement: Query[Any], values: dict[str, Any], tables: tuple[str, ...] = LARGE
) -> int:
    """Rows of the large tables that were looked at for one answer."""
    compiled = statement.compiled("postgresql")
    given = ", ".join(map(_literal, compiled.bind(values)))
    await grown.connection.execute(f"PREPARE page AS {compiled.sql}")
    execute = f"EXECUTE page({given})" if given else "EXECUTE page"
    told = await grown.connection.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {execute}")
    await grown.connection.execute("DEALLOCATE page")
    [plan] = msgspec.json.decode(told)
    return sum(_looked_at(one) for one in _nodes(plan["Plan"]) if one.get("Relation Name") in tables)


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for one in plan.get("Plans", ()):
        yield from _nodes(one)


def _looked_at(node: dict[str, Any]) -> int:
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return int((node["Actual Rows"] + removed) * node["Actual Loops"])


def _literal(value: Any) -> str:
    if value is None or isinstance(value, int):
        return "NULL" if value is None else str(value)
    if isinstance(value, list):
        return f"ARRAY[{', '.join(map(_literal, value))}]" if value else "'{}'"
    return "'" + str(value).replace("'", "''") + "'"


def values_of(grown: Grown) -> dict[str, Any]:
    me = grown.community.members[0].account_id
    known = {"me": me, "owner": me, "author": me, "now": datetime.now(UTC), "noted": datetime.now(UTC), "tag_ids": []}
    return known | bound("unwanted", [], every=False)


CURSORS: tuple[dict[str, int | None], ...] = (
    {}, {"max_id": None}, {"since_id": 5}, {"max_id": None, "since_id": 5}, {"max_id": None, "min_id": 5},
)  # fmt: skip
_OF_ACCOUNT = {"only_media": False, "no_replies": False, "no_boosts": False, "no_direct": False, "tagged": False}
LISTS = {
    "home": home_list,
    "direct": direct_list,
    "account": account_list(anonymous=False, own=False, **_OF_ACCOUNT),
    "public": public_list(anonymous=False, local=False, remote=False, only_media=False),
    "public to strangers": public_list(anonymous=True, local=False, remote=False, only_media=False),
    "local": public_list(anonymous=False, local=True, remote=False, only_media=False),
    "media": public_list(anonymous=False, local=False, remote=False, only_media=True),
}


@pytest.mark.parametrize("cursor", CURSORS, ids=lambda one: "+".join(one) or "newest")
@pytest.mark.parametrize("name", LISTS)
async def test_a_page_reads_few_rows(grown: Grown, name: str, cursor: dict[str, int | None]) -> None:
    ids = grown.community.public_ids
    middle = ids[len(ids) // 2] if "max_id" in cursor else None
    where = Cursor(20, max_id=middle, since_id=cursor.get("since_id"), min_id=cursor.get("min_id"))
    statement, moves = LISTS[name].page_form(where)

    assert await rows_read(grown, statement, values_of(grown) | moves) < MOST_ROWS


@pytest.mark.parametrize("words", ["lantern", "lantern meadow", "nobody says this"])
@pytest.mark.parametrize("of_author", [False, True])
async def test_a_search_reads_few_rows(grown: Grown, words: str, of_author: bool) -> None:
    form = StatusSearchForm(
        "all", has_wanted=True, has_unwanted=False, filters=(), of_author=of_author, by_text=of_author, step=STEPS[0]
    )
    terms = [term for word in words.split() if (term := to_term(word)) is not None]
    moves = {"older_than": LARGEST_ID, "newer_than": -1, "limit": 20, "offset": 0}

    assert await rows_read(grown, search_statement(form), values_of(grown) | bound("wanted", terms) | moves) < MOST_ROWS


async def test_what_one_had_to_do_with_is_found_by_the_person(grown: Grown) -> None:
    form = StatusSearchForm(
        "library", has_wanted=True, has_unwanted=False, filters=(), of_author=False, by_text=True, step=STEPS[0]
    )
    term = to_term("lantern")
    assert term is not None
    moves = {"older_than": LARGEST_ID, "newer_than": -1, "limit": 20, "offset": 0}

    assert await rows_read(grown, search_statement(form), values_of(grown) | bound("wanted", [term]) | moves) < 6_000


@pytest.mark.parametrize("url", ["https://elsewhere.example/@nobody/1", "x" * 5_000])
async def test_an_address_is_looked_up(grown: Grown, url: str) -> None:
    assert await rows_read(grown, status_by_url, {"url": url}) <= 1


async def _answered(grown: Grown, many: int) -> dict[str, Any]:
    """A post that so many answer who are not its author."""
    author, other = (member.account_id for member in grown.community.members[:2])
    [post] = await grown.connection.fetch("SELECT id FROM social_statuses WHERE account_id = $1 LIMIT 1", author)
    columns = [
        row["column_name"]
        for row in await grown.connection.fetch(
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'social_statuses'"
        )
    ]
    changed = {
        "id": "id + number",
        "uri": "uri || '/' || number",
        "account_id": str(other),
        "in_reply_to_id": str(post["id"]),
        "conversation_id": str(post["id"]),
        "reblog_of_id": "NULL",
        "visibility": "0",
    }
    taken = ", ".join(changed.get(name, name) for name in columns)
    await grown.connection.execute(
        f"INSERT INTO social_statuses ({', '.join(columns)}) SELECT {taken} FROM social_statuses,"
        f" generate_series(1, {many}) AS number WHERE id = {post['id']}"
    )
    return {"status": post["id"], "conversation": post["id"], "author": author, "after": 0, "most": 61}


ANSWERS = {"by the author": answers_of[False], "by others": answers_of[True], "in the thread": said_in}


@pytest.mark.parametrize("name", ANSWERS)
async def test_a_page_of_what_answers_a_post_reads_few_rows(grown: Grown, name: str) -> None:
    """However many they are: any other server may add to them."""
    changes = grown.connection.transaction()
    await changes.start()
    try:
        values = await _answered(grown, 2 * MOST_ROWS)
        await grown.connection.execute("ANALYZE social_statuses")

        assert await rows_read(grown, ANSWERS[name], values) < 200
    finally:
        await changes.rollback()


@pytest.mark.parametrize("counted", [True, False])
async def test_what_groups_of_notices_cost_grows_with_them_and_not_with_their_square(
    grown: Grown, counted: bool
) -> None:
    """Two long groups, of which one is older than the other."""
    me, other = (member.account_id for member in grown.community.members[:2])
    many = 1000
    changes = grown.connection.transaction()
    await changes.start()
    try:
        await grown.connection.execute(
            "SET LOCAL plan_cache_mode = force_custom_plan"
        )  # as its first five runs have it
        for place, type in enumerate(("follow", "favourite")):
            await grown.connection.execute(
                "INSERT INTO social_notifications (id, account_id, from_id, type, group_key, filtered, created_at, once_key)"
                f" SELECT {place} + 2 * n, {me}, {other}, '{type}', '{type}-1', false, now(), '{type}' || n"
                f" FROM generate_series(1, {many}) AS n"
            )
        await grown.connection.execute("ANALYZE social_notifications")
        values: dict[str, Any] = {"me": me, "types": None, "grouped": [], "from_id": None}
        if counted:
            statement = groups_count(of_one=False, of_types=False, all_types=True)
            values |= {"since": 0, "most": 100}
        else:
            listed = groups_list(filtered=False, of_one=False, of_types=False, all_types=True)
            statement, params = listed.page_form(Cursor(40))
            values |= params

        found = await rows_read(grown, statement, values, ("social_notifications",))
        assert found < 10 * many, found
    finally:
        await changes.rollback()
