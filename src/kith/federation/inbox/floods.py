"""How much is taken of whom."""

from __future__ import annotations

from kith.base.limits import LimitRule
from kith.base.work import Work
from kith.federation.inbox import store

__all__ = [
    "FROM_HOST",
    "KILOBYTES_FROM_HOST",
    "MOST_PUT_OFF",
    "MOST_PUT_OFF_BYTES",
    "MOST_WAITING",
    "MOST_WAITING_BYTES",
    "REPORTS_FROM_HOST",
    "UNBELIEVED",
    "has_put_off",
    "has_too_much_waiting",
    "kilobytes",
]

# Requests whose signature is not believed, by where they come from: each is paid for before it is checked, and given
# back once it is believed.
UNBELIEVED = LimitRule("inbox_unbelieved", most=600, seconds=300)
# What one host sends, by the name it has signed with.
FROM_HOST = LimitRule("inbox_host", most=60_000, seconds=300)
# And its bytes: 128 MB, which are 45,000 posts as servers send them, ten times what the largest one has in that time.
KILOBYTES_FROM_HOST = LimitRule("inbox_host_kilobytes", most=131_072, seconds=300)
# What one site has sent and cannot be done yet, for others have to be asked first or it has failed: with more, nothing
# of it is taken. With half of it nothing waits any more for a host that cannot be reached now.
MOST_PUT_OFF = 20_000
MOST_PUT_OFF_BYTES = 32 * 1024 * 1024
# And what nobody has looked at yet: with more nothing of it is taken.
MOST_WAITING = 50_000
MOST_WAITING_BYTES = 128 * 1024 * 1024
# Reports that one host passes on: the team gets mail for each.
REPORTS_FROM_HOST = LimitRule("inbox_reports", most=100, seconds=3600)


def kilobytes(size: int) -> int:
    return -(-size // 1024)


async def has_put_off(work: Work, site: str, share: float = 1) -> bool:
    """Whether a site has that share of all that may wait of it."""
    count, size = await store.put_off_of(work.db, site)
    return count >= MOST_PUT_OFF * share or size >= MOST_PUT_OFF_BYTES * share


async def has_too_much_waiting(work: Work, site: str) -> bool:
    count, size = await store.waiting_of(work.db, site, MOST_WAITING)
    return count >= MOST_WAITING or size >= MOST_WAITING_BYTES
