"""Hosts that did not answer, and speak again."""

from __future__ import annotations

import msgspec

from kith.base.work import Work
from kith.federation.delivery import store
from kith.federation.delivery.tasks import send_to

__all__ = ["heard_from"]


async def heard_from(work: Work, domain: str) -> None:
    """Called for every signed request of a host: one that was given up is written to again, beginning with whatever
    still waits for it."""
    host = await store.host_of(work.db, domain)
    if host.unavailable_since is None:
        return
    host = msgspec.structs.replace(
        host, unavailable_since=None, failing_days=0, failures=0, paused_until=None, is_slow=True
    )
    await store.save_host(work.db, host)
    await store.wake(work.db, domain, work.now)
    send_to(work, host)
    work.log("federation.host_woke", domain=domain)
