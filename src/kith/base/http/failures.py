"""Why a request to another server did not work, in one word that code can compare."""

from __future__ import annotations

import errno
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

__all__ = ["AddressRefused", "OutgoingError", "Reason", "WastefulAnswer", "translated"]

Reason = Literal[
    "refused_address",
    "bad_url",
    "timeout",
    "too_large",
    "too_many_redirects",
    "connect",
    "tls",
    "protocol",
    "busy",  # all places of our own are taken: nobody was asked, and nobody is to blame
]


class OutgoingError(Exception):
    """The request failed; `reason` says how. The words are for the log, not for a stranger."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason: Reason = reason


class WastefulAnswer(OutgoingError):  # noqa: N818 - it is one, of a kind
    """The answer costs far more to read than it brings. Its host is not asked again for a while."""

    def __init__(self, message: str) -> None:
        super().__init__("too_large", message)


class AddressRefused(OSError):  # noqa: N818 - raised inside the connector, which understands only OSError
    """The guard's no. Its words never vary: the connector keeps an error's type only while all agree."""

    def __init__(self) -> None:
        super().__init__(errno.EACCES, "this address is not for us to call")


@contextmanager
def translated(url: str) -> Iterator[None]:
    """Turn whatever the HTTP library raises into an `OutgoingError`."""
    from aiohttp import ClientError  # noqa: PLC0415 - loaded when something is first sent
    from aiohttp.http_exceptions import HttpProcessingError  # noqa: PLC0415

    try:
        yield
    except OutgoingError:
        raise
    except (ClientError, HttpProcessingError, OSError, ValueError) as error:
        raise OutgoingError(_reason(error), f"{url}: {error or type(error).__name__}") from error


def _reason(error: Exception) -> Reason:
    import aiohttp  # noqa: PLC0415 - loaded by now

    match error:
        case aiohttp.ClientConnectorError(os_error=AddressRefused()):
            return "refused_address"
        case aiohttp.InvalidURL():
            return "bad_url"
        case aiohttp.ClientSSLError() | ssl.SSLError():
            return "tls"
        case TimeoutError():
            return "timeout"
        case aiohttp.ClientConnectionError() | OSError():
            return "connect"
        case _:
            return "protocol"
