"""No statement goes through a table that grows with the years, but for those named here, each with its reason.

SQLite says so of an empty database, for it is never told how many rows there are. Statements that are made for a request
(pages, searches) are looked at in `tests/social/test_plans.py` and `test_sqlite_plans.py`.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from kith.base.db import METADATA
from kith.base.settings import load
from tests.statements import all_statements
from tests.town import Town

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)

LARGE = {
    "base_jobs", "federation_actors", "federation_deliveries", "federation_inbox", "federation_outgoing",
    "federation_posts", "identity_events", "identity_oauth_grants", "identity_oauth_tokens", "identity_oauth_visits",
    "identity_sessions", "identity_users", "social_accounts", "social_bookmarks", "social_cards",
    "social_conversation_statuses", "social_favourites", "social_feeds", "social_follows", "social_interactions",
    "social_media", "social_mentions", "social_notifications", "social_poll_votes", "social_polls", "social_presence",
    "social_status_edits", "social_status_tags", "social_statuses", "social_tag_days", "social_tags",
}  # fmt: skip
WALKED = "in its order, until enough are found"
COUNTED = "counts them, beside the loop"
DOMAINS = "each domain that is known, from an index, beside the loop"
COMMAND = "a command, not the server"
# What waits is short, and is looked at as a whole by whoever starts or asks for it.
WAITING = "only what waits"
FIRST = "whether there is any: ends with the first"
OPEN = "all who are signed in: whose session ended without a word"
MAY_READ_ALL = {
    "kith.federation.inbox.store._any_waiting": FIRST,
    "kith.federation.outgoing.concerns._anybody": FIRST,
    "kith.federation.outgoing.recipients._after": "all who are known elsewhere, once for everybody who is told everywhere",
    "kith.federation.outgoing.recipients._changed": FIRST,
    "kith.federation.outgoing.recipients._deleted": FIRST,
    "kith.federation.outgoing.recipients._new": FIRST,
    "kith.identity.gateway.additional_names._of_people": "once in ten minutes, beside the loop, where there are gateways",
    "kith.identity.users.store._with_distinguished_name": "when somebody gets another one, beside the loop",
    "kith.identity.providers.oauth2.grants.visits._idle": OPEN,
    "kith.identity.providers.oauth2.grants.visits._left": OPEN,
    "kith.identity.providers.oauth2.logout.propagation._without_token": OPEN,
    "kith.social.suggestions.store._forget_beyond": "once a day",
    "kith.base.jobs.store._bury_unknown": WAITING,
    "kith.base.jobs.store._counts": WAITING,
    "kith.base.jobs.store._listed": WALKED,
    "kith.base.jobs.store._made_ahead": WAITING,
    "kith.base.jobs.store._try_now": WAITING,
    "kith.base.jobs.store._retry": WAITING,
    "kith.base.jobs.store._take_over_all": WAITING,
    "kith.identity.providers.oauth2.logout.propagation._left": WAITING,
    "kith.identity.providers.saml.store._left": WAITING,
    "kith.federation.delivery.store._any_far": WAITING,
    "kith.federation.delivery.store._behind": WAITING,
    "kith.federation.delivery.store._let_go": WAITING,
    "kith.federation.delivery.store._try_now": WAITING,
    "kith.federation.delivery.store._release_all": "when a process ends",
    "kith.federation.delivery.store._waiting": COUNTED,
    "kith.federation.peers._waiting": COUNTED,
    "kith.web.levels.figures._deliveries": COUNTED,
    "kith.web.levels.figures._people": COUNTED,
    "kith.web.levels.reading._deliveries": COUNTED,
    "kith.social.admin.people._count": COUNTED,
    "kith.identity.users.members._count_members": COUNTED,
    "kith.identity.users.members._joined": COUNTED,
    "kith.identity.staff_view._addresses": "each address once, beside the loop",
    "kith.federation.block_lists.store._known_domains": DOMAINS,
    "kith.social.admission.peers._all": DOMAINS,
    "kith.social.admission.peers._like": DOMAINS,
    "kith.social.admission.store._known_below": DOMAINS,
    "kith.social.instance.store._domains": DOMAINS,
    "kith.identity.audit.store._newest": WALKED,
    "kith.identity.signups.store._pending": WALKED,
    "kith.identity.staff_view._events": WALKED,
    "kith.identity.users.store._listed": WALKED,
    "kith.identity.users.store._names_near": COMMAND,
    "kith.backup.rehearsal._someone": WALKED,
    "kith.cli.check.neighbours._elsewhere": WALKED,
    "kith.cli.imports.mastodon._names": COMMAND,
    "kith.cli.imports.mastodon._posts": COMMAND,
    "kith.cli.imports.mastodon._strangers": COMMAND,
}


@pytest.fixture
def database(town: Town) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(load(town.environment).sqlite_path)) as opened:
        yield opened


def _read_whole(database: sqlite3.Connection, sql: str) -> set[str]:
    names = {alias: table for table, alias in re.findall(r"(?:FROM|JOIN|,)\s+(\w+) AS (\w+)", sql)}
    names |= {table: table for table in METADATA.tables}
    plan = [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * sql.count("?"))]
    return {names[found[1]] for step in plan if (found := re.match(r"SCAN (\w+)", step)) and found[1] in names} & LARGE


def test_no_statement_goes_through_a_large_table(database: sqlite3.Connection) -> None:
    assert set(METADATA.tables) >= LARGE
    whole, looked_at = {}, 0
    for name, statement in all_statements().items():
        sql = statement.compiled("sqlite").sql
        if "current_setting" in sql or "current_database" in sql:
            continue  # for PostgreSQL alone
        looked_at += 1
        if tables := _read_whole(database, sql):
            whole[name] = tables

    assert looked_at > 1_000
    assert {name: tables for name, tables in whole.items() if name not in MAY_READ_ALL} == {}
    assert set(MAY_READ_ALL) - set(whole) == set(), "not so any more: to be taken out of the list"
