"""How many hosts of one domain may appear at once: names below a domain cost nothing, and each could bring people."""

from __future__ import annotations

import time

from kith.base.caches import ForAWhile
from kith.federation.fetching import FetchFailed

__all__ = ["NewHosts", "registrable_domain"]

MOST = 10
SECONDS = 60.0
MOST_DOMAINS = 10_000
_SHORT = 3


def registrable_domain(domain: str) -> str:
    """What somebody has registered, as far as the name tells: `a.b.example.org` is of `example.org`.

    Below the short names of countries one label more is taken (`example.co.uk`). Addresses and ports are themselves.
    """
    host = domain.partition(":")[0]
    labels = host.split(".")
    if labels[-1].isdigit() or domain.startswith("["):
        return domain
    is_country = len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= _SHORT
    return ".".join(labels[-3:] if is_country else labels[-2:])


class NewHosts:
    """At most ten that were never heard of in a minute, for each domain that can be registered."""

    def __init__(self) -> None:
        self._known: ForAWhile[bool] = ForAWhile("new_hosts", seconds=SECONDS, most=MOST_DOMAINS)
        self._seen: ForAWhile[list[float]] = ForAWhile("new_host_counts", seconds=SECONDS, most=MOST_DOMAINS)

    def check(self, domain: str) -> None:
        """Raises `FetchFailed` for one too many. Whoever was let in a moment ago is let in again."""
        if self._known.get(domain):
            return
        registered = registrable_domain(domain)
        now = time.monotonic()
        recent = [at for at in self._seen.get(registered) or () if now - at < SECONDS]
        if len(recent) >= MOST:
            raise FetchFailed("over_budget", f"{MOST} new hosts of {registered} in a minute")
        self._seen.put(registered, [*recent, now])
        self._known.put(domain, True)
