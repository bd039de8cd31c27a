"""Opening a file of addresses (MaxMind DB format)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maxminddb.reader import Reader


def open_file(path: str) -> Reader:
    """Raises `OSError` or `ValueError`."""
    from maxminddb import MODE_FILE, open_database  # noqa: PLC0415 - loaded when first used

    try:
        return open_database(path, MODE_FILE)
    except OSError:
        raise
    except Exception as error:
        raise ValueError(f"it is not a database of addresses: {error}") from error
