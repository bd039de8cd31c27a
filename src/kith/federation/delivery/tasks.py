"""Jobs: one for each host there is something for."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Any

import msgspec

from kith.base.jobs import JobKind, Periodic
from kith.base.metrics import DELIVERIES
from kith.base.work import Work
from kith.federation.delivery import store
from kith.federation.delivery.couriers import Couriers
from kith.federation.delivery.host_states import HostTally, host_after
from kith.federation.delivery.ports import DeliveryGate
from kith.federation.delivery.rules import LONGEST_PAUSE, DeliveryResult, pause_of
from kith.federation.delivery.sending import HostRun
from kith.federation.delivery.tables import DeliveryHost

__all__ = ["KINDS", "PERIODIC", "send_to"]

LONGEST_KEY = 150
SECONDS_ALIKE = 10  # what is due that close together is sent by one job
UNASKED_PAUSE = timedelta(seconds=10)
OVERDUE_AFTER = timedelta(minutes=1)
OVERDUE_AT_ONCE = 1000
GIVEN_UP_AFTER = timedelta(days=4)  # the last retry is made after three, unless the host is paused
LONGEST_HELD = timedelta(hours=1)
HOSTS_KEPT = timedelta(days=180)


class SendToHost(msgspec.Struct):
    domain: str


class SendOverdue(msgspec.Struct):
    """What nobody has taken, whatever became of its job; and what is over is forgotten."""


async def send(work: Work, payload: SendToHost) -> None:
    domain = payload.domain
    if not await work.find(DeliveryGate).admits(domain, work):  # type: ignore[type-abstract]
        dropped = await store.purge(work.db, domain)
        DELIVERIES.labels(DeliveryResult.DROPPED).inc(dropped)
        work.log("federation.deliveries_dropped", domain=domain, count=dropped)
        return
    host = await store.host_of(work.db, domain)
    tally = HostTally()
    if pause_of(host, work.now) is None:
        tally = await HostRun(work, host).run()
    await _go_on(work, domain, tally)


async def _go_on(work: Work, domain: str, tally: HostTally) -> None:
    """Remember what the host did, and have it tried again when something is due next."""
    await work.db.hold(f"federation.host:{domain}")
    before = await store.host_of(work.db, domain)
    host = host_after(before, tally, work.now)
    if host != before:
        await store.save_host(work.db, host)
    if host.unavailable_since is not None and before.unavailable_since is None:
        work.log("federation.host_parked", domain=domain, cause=host.error)
    couriers = work.find(Couriers)
    due_at = await store.next_due(
        work.db,
        domain,
        me=couriers.id,
        alone=couriers.is_alone,
        dead=host.unavailable_since is not None,
        now=work.now,
    )
    if due_at is not None:
        due_at = max(due_at, pause_of(host, work.now) or due_at)
        if tally.is_unasked:
            due_at = max(due_at, work.now + UNASKED_PAUSE)
        send_to(work, host, due_at if due_at > work.now else None)


async def send_overdue(work: Work, _payload: SendOverdue) -> None:
    await store.set_right(work.db, now=work.now, pause=LONGEST_PAUSE, held=LONGEST_HELD)
    overdue = await store.behind(work.db, before=work.now - OVERDUE_AFTER, now=work.now, most=OVERDUE_AT_ONCE)
    known = await store.hosts_of(work.db, overdue)
    for domain in overdue:
        send_to(work, known.get(domain) or DeliveryHost(domain))
    given_up = await store.give_up(work.db, work.now - GIVEN_UP_AFTER)
    DELIVERIES.labels(DeliveryResult.GAVE_UP).inc(given_up)
    await store.forget_hosts(work.db, work.now - HOSTS_KEPT)


def _sending(name: str, **options: Any) -> JobKind[SendToHost]:
    return JobKind(
        name=f"federation_delivery.{name}",
        payload=SendToHost,
        handler=send,
        outside=True,
        concurrency=64,
        is_harmless=True,
        **options,
    )


# Hosts that answered last time wait for none of the others, however many these are and whatever they do: those that
# failed or were slow last time are sent to by a kind of job of their own, and so are those of which nothing is known.
# Who falls silent without a warning gives its place to the next after a moment.
_MAKES_ROOM: dict[str, Any] = {"long_after": timedelta(milliseconds=500), "most": 256}
SEND = _sending("send", **_MAKES_ROOM)
SEND_TO_NEW = _sending("send_to_new", **_MAKES_ROOM)
SEND_TO_TROUBLED = _sending("send_to_troubled")
OVERDUE: JobKind[SendOverdue] = JobKind(
    name="federation_delivery.overdue", payload=SendOverdue, handler=send_overdue, outside=True, is_harmless=True
)
KINDS = (SEND, SEND_TO_NEW, SEND_TO_TROUBLED, OVERDUE)
PERIODIC = (Periodic(kind=OVERDUE, every=timedelta(minutes=5), payload=SendOverdue()),)


def send_to(work: Work, host: DeliveryHost, at: datetime | None = None) -> None:
    """Have what is due for a host sent, now or `at` a time. It is everybody's, whoever asks for it."""
    kind = SEND_TO_TROUBLED if host.is_troubled else SEND_TO_NEW if host.succeeded_at is None else SEND
    when = "" if at is None else f"{int(at.timestamp()) // SECONDS_ALIKE} "
    work.enqueue(kind, SendToHost(host.domain), key=when + _short(host.domain), at=at, owner="")


def _short(domain: str) -> str:
    return domain if len(domain) <= LONGEST_KEY else hashlib.sha256(domain.encode()).hexdigest()
