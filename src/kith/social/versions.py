"""One number tells that something is still what it was: it grows with everything that is shown of a row.

Most of what changes are counts. They are in the lower half; the upper half grows with all else, so that what was made
of a row can be kept without its counts too.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Table, literal_column

COUNTED, CHANGED = 1, 1 << 32
FIRST = CHANGED


def counted(table: Table) -> Any:
    return table.c.version + literal_column(str(COUNTED))


def changed(table: Table) -> Any:
    return table.c.version + literal_column(str(CHANGED))


def without_counts(version: int) -> int:
    return version >> 32
