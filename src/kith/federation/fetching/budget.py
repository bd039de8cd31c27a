"""How much one thing that came in may make us ask of others."""

from __future__ import annotations

from collections import Counter

from kith.federation.fetching.failures import FetchFailed

__all__ = ["FetchChain"]

MOST_IN_ALL = 400
MOST_PER_HOST = 100
MOST_SECONDS = 20.0  # that one host may take


class FetchChain:
    """One for everything that follows from one incoming object or one request of a member.

    Whoever writes a document can name any number of others in it: what is asked in its name is counted, in all and
    for each host, so that nobody can make us a burden to somebody else.
    """

    def __init__(self, *, in_all: int = MOST_IN_ALL, per_host: int = MOST_PER_HOST) -> None:
        self._in_all = in_all
        self._per_host = per_host
        self._spent: Counter[str] = Counter()
        self._left_out: set[str] = set()
        self._waited: Counter[str] = Counter()

    @property
    def spent(self) -> int:
        return self._spent.total()

    def spend(self, domain: str) -> None:
        """Count one request to `domain` before it is made."""
        if self._spent.total() >= self._in_all:
            raise FetchFailed("over_budget", f"{self._in_all} requests in all")
        if self._spent[domain] >= self._per_host:
            raise FetchFailed("over_budget", f"{self._per_host} requests to {domain}")
        if domain in self._left_out:
            raise FetchFailed("failed_before", f"{domain} has failed in this chain")
        self._spent[domain] += 1

    def waited(self, domain: str, seconds: float) -> None:
        """Whoever answers everything at the last moment has soon taken as long as anybody may."""
        self._waited[domain] += round(seconds * 1000)
        if self._waited[domain] > MOST_SECONDS * 1000:
            self.leave_out(domain)

    def leave_out(self, domain: str) -> None:
        """Ask nothing more of a host that makes us wait."""
        self._left_out.add(domain)
