"""What operators see of hosts, and what they can do about them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import msgspec

from kith.base.metrics import DELIVERIES
from kith.base.work import Work
from kith.federation.delivery import store
from kith.federation.delivery.rules import DeliveryResult
from kith.federation.delivery.tables import DeliveryHost
from kith.federation.delivery.tasks import send_to

__all__ = ["HostReport", "find_hosts", "list_hosts", "purge_host", "retry_now"]


class HostReport(msgspec.Struct, frozen=True):
    """`waiting` are deliveries that are still to be made."""

    domain: str
    state: Literal["ok", "slow", "failing", "paused", "unavailable"]
    waiting: int
    failures: int
    failing_days: int
    error: str | None
    failed_at: datetime | None
    succeeded_at: datetime | None
    paused_until: datetime | None
    unavailable_since: datetime | None
    signatures: str | None


async def list_hosts(work: Work) -> list[HostReport]:
    """Every host that something waits for, or that something is remembered of."""
    waiting = await store.waiting(work.db)
    known = {one.domain: one for one in await store.all_hosts(work.db)}
    return [
        _report(known.get(domain) or DeliveryHost(domain), waiting.get(domain, 0), work.now)
        for domain in sorted(known.keys() | waiting.keys())
    ]


async def find_hosts(work: Work, domains: Sequence[str]) -> dict[str, HostReport]:
    """The same of some hosts, by their names."""
    waiting = await store.waiting_for(work.db, domains)
    known = await store.hosts_of(work.db, domains)
    return {
        domain: _report(known.get(domain) or DeliveryHost(domain), waiting.get(domain, 0), work.now)
        for domain in known.keys() | waiting.keys()
    }


async def retry_now(work: Work, domain: str | None = None) -> int:
    """Have everything that waits for a host, or for any, sent at once, also to one that was given up. How much."""
    domains = [domain] if domain is not None else sorted(await store.waiting(work.db))
    count = 0
    for one in domains:
        host = await store.host_of(work.db, one)
        if host.paused_until is not None or host.unavailable_since is not None:
            host = msgspec.structs.replace(host, paused_until=None, unavailable_since=None, failing_days=0)
            await store.save_host(work.db, host)
        waiting = await store.wake(work.db, one, work.now)
        if waiting:
            send_to(work, host)
        count += waiting
    return count


async def purge_host(work: Work, domain: str) -> int:
    """Forget everything that waits for a host. How much that was."""
    count = await store.purge(work.db, domain)
    DELIVERIES.labels(DeliveryResult.DROPPED).inc(count)
    return count


def _report(host: DeliveryHost, waiting: int, now: datetime) -> HostReport:
    state: Literal["ok", "slow", "failing", "paused", "unavailable"] = "ok"
    if host.unavailable_since is not None:
        state = "unavailable"
    elif host.paused_until is not None and host.paused_until > now:
        state = "paused"
    elif host.failures:
        state = "failing"
    elif host.is_slow:
        state = "slow"
    return HostReport(
        domain=host.domain,
        state=state,
        waiting=waiting,
        failures=host.failures,
        failing_days=host.failing_days,
        error=host.error,
        failed_at=host.failed_at,
        succeeded_at=host.succeeded_at,
        paused_until=host.paused_until,
        unavailable_since=host.unavailable_since,
        signatures=host.scheme,
    )
