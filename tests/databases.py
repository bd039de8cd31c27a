"""Which tests run on PostgreSQL as well in the usual run: those of what a statement, a lock, an order, a type or a plan
may do otherwise there. Everything else runs there with `scripts/test --all`. Beside these, every run prepares every
statement on PostgreSQL (`test_statements.py`) and calls every route on both (`test_both_databases.py`)."""

from __future__ import annotations

import pytest

from tests.modes import is_all

__all__ = ["runs_in_this_mode"]

# Folders and files whose tests are about the database itself, or about what grows, waits, counts and sorts in it.
# A single test elsewhere is marked with `both_databases`.
_BOTH = (
    "tests/base/test_db", "tests/base/test_jobs", "tests/base/test_ids", "tests/base/test_work", "tests/base/test_news",
    "tests/base/test_limits", "tests/base/test_paging", "tests/base/test_full_disk", "tests/base/test_readiness",
    "tests/base/test_lender", "tests/base/test_writing", "tests/social/test_search", "tests/social/test_timelines",
    "tests/social/test_notifications", "tests/social/test_notification_groups", "tests/social/test_streaming.py",
    "tests/social/test_streaming_processes", "tests/social/test_plans", "tests/social/test_at_once",
    "tests/social/test_trends", "tests/social/test_figures", "tests/social/test_purging", "tests/identity/test_races",
    "tests/identity/test_upgrade", "tests/crash", "tests/growing", "tests/backup/test_round_trip", "tests/cli/test_jobs",
    "tests/test_whole_tables", "tests/test_costs", "tests/federation/test_delivery", "tests/federation/test_inbox.py",
)  # fmt: skip


def runs_in_this_mode(item: pytest.Item) -> bool:
    if item.get_closest_marker("whole") is not None and not is_all():
        return False
    chosen = getattr(item, "callspec", None)
    if is_all() or chosen is None or chosen.params.get("engine", "sqlite") == "sqlite":
        return True
    return item.nodeid.startswith(_BOTH) or item.get_closest_marker("both_databases") is not None
