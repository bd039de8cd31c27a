"""A port by which others learn under which of the server's names somebody came; brands know."""

from __future__ import annotations

from typing import Protocol
from urllib.parse import quote

from kith.base.work import Work


class ServerNames(Protocol):
    def facts(self, host: str) -> dict[str, str] | None:
        """The brand that is shown at this host, for the audit trail; None for the default one."""

    def origin(self, host: str) -> str:
        """Scheme, host and port of the pages at this host, if it is a brand's own name; else the base URL.

        Nothing else that a client says of itself becomes part of a link.
        """

    def is_other(self, host: str) -> bool:
        """Whether this is a name of a brand, and not the one in the base URL."""


def origin_of(work: Work) -> str:
    """Where the pages are that the person who caused this looks at."""
    return work.find(ServerNames).origin(work.origin.host)  # type: ignore[type-abstract]


def home_of(work: Work, path: str, query: bytes, *, unless_own: bool = False) -> str | None:
    """The same page under the base URL, for what works there only; None for whoever is there already.

    `unless_own`: it works at the names of brands, too, but not at names below them.
    """
    if unless_own and origin_of(work) != work.settings.base_url:
        return None
    if not work.find(ServerNames).is_other(work.origin.host):  # type: ignore[type-abstract]
        return None
    asked = query.decode("latin-1")
    return f"{work.settings.base_url}{quote(path)}{f'?{asked}' if asked else ''}"
