"""A port by which others learn under which of the server's names somebody came; brands know."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work


class ServerNames(Protocol):
    def facts(self, host: str) -> dict[str, str] | None:
        """The brand that is shown at this host, for the audit trail; None for the default one."""

    def origin(self, host: str) -> str:
        """Scheme, host and port of the pages at this host, if it is a brand's own name; else the base URL.

        Nothing else that a client says of itself becomes part of a link.
        """


def origin_of(work: Work) -> str:
    """Where the pages are that the person who caused this looks at."""
    return work.find(ServerNames).origin(work.origin.host)  # type: ignore[type-abstract]
