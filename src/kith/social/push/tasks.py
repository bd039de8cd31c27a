"""Notifications on their way to devices: a job for each device, done outside of any transaction."""

from __future__ import annotations

import random
from datetime import timedelta

import msgspec

from kith.base.counted_log import log_counted
from kith.base.errors import Throttled
from kith.base.jobs import JobKind
from kith.base.limits import Limiter, LimitRule
from kith.base.work import Work
from kith.social.guards import Use, session_use, token_use
from kith.social.notifications.facts import NotificationMade
from kith.social.push import endpoints, service, store
from kith.social.push.encryption import MOST_BYTES
from kith.social.push.message import compose, fit
from kith.social.push.sending import KEPT, PushOutcome, Verdict, send
from kith.social.push.slots import Busy, Slots
from kith.social.push.tables import PushSubscription

AT_ONCE = 32
# To all devices of one person together. What is over is in their list, where they find it when they look.
MESSAGES = LimitRule("push-messages", most=1000, seconds=300)
SOONEST, LATEST = timedelta(seconds=5), timedelta(minutes=2)  # until room is looked for again
MOST_LOOKS = 10  # for room, in twenty minutes
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (30, 120, 480, 1800, 7200))


class PushDelivery(msgspec.Struct):
    """`tries`: how often it was sent in vain. `looks`: how often there was no room for it."""

    notification_id: int
    subscription_id: int
    tries: int = 0
    looks: int = 0


async def plan(work: Work, fact: NotificationMade) -> None:
    """A job for each subscription that takes a notification, in the transaction that makes it.

    Most people have no subscription, and asking costs a fifth of what a job to ask later would.
    """
    receivers = await store.receivers(work.db, fact.notification_id, work.now - KEPT)
    if receivers and _may_send(work, fact.account_id, len(receivers)):
        for subscription_id in receivers:
            work.enqueue(DELIVER, PushDelivery(fact.notification_id, subscription_id))


def _may_send(work: Work, account_id: int, count: int) -> bool:
    try:
        work.find(Limiter).spend(MESSAGES, str(account_id), count)
    except Throttled:
        return False
    return True


async def deliver(work: Work, delivery: PushDelivery) -> None:
    """Everything is looked up again: since it was planned, or tried, much may have changed."""
    subscription = await store.find(work.db, delivery.subscription_id)
    if subscription is None:
        return
    told = await store.find_pushed(work.db, delivery.notification_id, subscription, work.now - KEPT)
    if told is None:
        return
    token = service.token_of(work, subscription)
    use = await _use_of(work, subscription, token)
    if use is Use.ENDED:
        await store.remove(work.db, subscription)
    if use is not Use.LET_IN:
        return
    message = await compose(work, told, token)
    if message is None:
        return
    try:
        async with work.find(Slots).take(endpoints.host_of(subscription.endpoint), subscription.account_id):
            verdict = await send(work, subscription, fit(message, MOST_BYTES))
    except Busy:
        wait_for_room(work, delivery)
        return
    await _conclude(work, delivery, subscription, verdict)


def wait_for_room(work: Work, delivery: PushDelivery) -> None:
    """Ever longer, and not for hours: what somebody was to be told by then is in their list."""
    if delivery.looks >= MOST_LOOKS:
        log_counted("info", "push.no_room", subscription=delivery.subscription_id)
        return
    pause = min(SOONEST * 2**delivery.looks, LATEST) * random.uniform(1, 2)  # noqa: S311 - spread, not secrecy
    again = msgspec.structs.replace(delivery, looks=delivery.looks + 1)
    work.enqueue(DELIVER, again, at=work.now + pause)


async def _use_of(work: Work, subscription: PushSubscription, token: str | None) -> Use:
    if token is None:
        return await session_use(work, subscription.session_hash or "", "push")
    return await token_use(work, token, "push")


async def _conclude(work: Work, delivery: PushDelivery, subscription: PushSubscription, verdict: Verdict) -> None:
    told = {"subscription": subscription.id, "host": endpoints.host_of(subscription.endpoint), "why": verdict.why}
    if verdict.outcome is PushOutcome.GONE:
        await store.remove(work.db, subscription)
        work.log("push.subscription_removed", **told)
    elif verdict.outcome is PushOutcome.REFUSED:
        work.log("push.refused", **told)
    elif verdict.outcome is PushOutcome.LATER and delivery.tries >= len(PAUSES):
        work.log("push.given_up", **told)
    elif verdict.outcome is PushOutcome.LATER:
        again = msgspec.structs.replace(delivery, tries=delivery.tries + 1, looks=0)
        work.enqueue(DELIVER, again, at=work.now + _pause(delivery.tries, verdict.wait))


def _pause(tries: int, wait: timedelta | None) -> timedelta:
    """Ever longer, spread out so that a crowd does not come back at once, and never before the service wants it."""
    pause = PAUSES[tries] * random.uniform(1, 1.25)  # noqa: S311 - spread, not secrecy
    return pause if wait is None else max(pause, wait)


DELIVER: JobKind[PushDelivery] = JobKind(
    name="push.deliver", payload=PushDelivery, handler=deliver, outside=True, concurrency=AT_ONCE, attempts=6
)

KINDS = (DELIVER,)
