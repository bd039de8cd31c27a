"""What the tables owe to a database that spreads them over machines."""

from __future__ import annotations

from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from kith.base.db import METADATA
from kith.schema import __doc__ as _every_table  # noqa: F401 - loads them

# Written seldom: people, providers, and devices that want to be told.
WITH_A_SEQUENCE = {"identity_users", "identity_providers", "social_push_subscriptions"}


def test_no_table_that_is_written_much_takes_its_ids_from_a_sequence() -> None:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    found = {
        table.name for table in METADATA.sorted_tables if "SERIAL" in str(CreateTable(table).compile(dialect=dialect))
    }

    assert found == WITH_A_SEQUENCE


def test_every_table_has_a_key() -> None:
    assert [table.name for table in METADATA.sorted_tables if not table.primary_key.columns] == []
