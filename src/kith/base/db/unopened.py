"""Why a PostgreSQL database could not be opened, in words for an operator."""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import urlsplit

import asyncpg

from kith.base.settings import BadSettings

__all__ = ["FAILURES", "open_named", "place_of", "reason"]

FAILURES = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError)


def place_of(url: str) -> str:
    """Host, port and name, without who signs in there and how."""
    parts = urlsplit(url)
    return f"{parts.hostname or 'the local socket'}{f':{parts.port}' if parts.port else ''}{parts.path}"


def reason(error: BaseException) -> str:
    match error:
        case ConnectionRefusedError():
            return "nothing answers there (is PostgreSQL running?)"
        case socket.gaierror():
            return "there is no such host"
        case TimeoutError():
            return "it does not answer in time"
        case FileNotFoundError():
            return "there is no such socket (is PostgreSQL running?)"
        case asyncpg.InvalidCatalogNameError():
            return "there is no database of this name (`createdb` makes one)"
        case asyncpg.InvalidAuthorizationSpecificationError():
            return "it does not let us in (are name and password right?)"
        case OSError():
            return error.strerror or str(error)
        case _:
            return str(error).splitlines()[0] if str(error) else type(error).__name__


async def open_named(url: str, **given: str) -> Any:
    """One connection to a database that an operator has named; `given` are settings of the session."""
    try:
        return await asyncpg.connect(url, timeout=10, server_settings=given)
    except FAILURES as error:
        raise BadSettings(f"the database at {place_of(url)} cannot be opened: {reason(error)}") from error
