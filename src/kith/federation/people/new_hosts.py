"""How many hosts of one domain may appear at once: names below a domain cost nothing, and each could bring people."""

from __future__ import annotations

import time

from kith.base.caches import ForAWhile
from kith.base.http.sites import registrable_domain
from kith.federation.fetching import FetchFailed

__all__ = ["NewHosts"]

MOST = 10
SECONDS = 60.0
MOST_DOMAINS = 10_000


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
