"""From an event to notifications: the rules are asked, then each way of sending does its part by itself.

Each step and the jobs that follow from it are one transaction, so that nothing is lost or told twice by a process
that ends in the middle. Only a webhook may be called again; it carries the same `id` then.
"""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

import msgspec

from kith.base import mail_texts
from kith.base.jobs import MAKES_ROOM, Give, JobKind
from kith.base.mail import Mail
from kith.base.mail_texts import MailText
from kith.base.mailing import post
from kith.base.work import Origin, Work
from kith.identity.audit.facts import EventRecorded
from kith.identity.audit.tables import Event
from kith.identity.event_notifications import message as messages
from kith.identity.event_notifications import rules, store, transports, webhook
from kith.identity.event_notifications.facts import DirectMessageAsked
from kith.identity.event_notifications.message import EventMessage
from kith.identity.event_notifications.rule_watch import RuleWatch
from kith.identity.event_notifications.rules import NotificationRuleRecord
from kith.identity.event_notifications.transports import (
    DIRECT,
    EMAIL,
    LOCAL,
    SLACK,
    WEBHOOK,
    NotificationTransportRecord,
)
from kith.identity.expressions import subjects
from kith.identity.policies.engine import evaluate_target
from kith.identity.policies.request import PolicyRequest
from kith.identity.rest.record_store import RecordStore, StoredRecord
from kith.identity.users.tables import User

WINDOW = timedelta(minutes=1)
MOST_AT_ONCE = 10  # of a rule in a minute; what comes after is told together at its end
PAGE = 200
KEPT = timedelta(days=90)
QUIET = Origin(is_notifying=True)

RULES = RecordStore(rules.RESOURCE)
TRANSPORTS = RecordStore(transports.RESOURCE)


class HeldEvents(msgspec.Struct):
    """The end of a rule's minute."""

    rule: str


class NotificationDelivery(msgspec.Struct):
    """One rule's notification by one transport; `after` is the last recipient who was told."""

    id: str
    rule: str
    transport: str
    event: str
    count: int = 1
    since: datetime | None = None
    after: int = 0


class WebhookCall(msgspec.Struct):
    delivery: NotificationDelivery
    user: int | None


# Which rules an event is for


async def match(work: Work, fact: EventRecorded) -> None:
    work.come_from(QUIET)
    event = await store.find_event(work.db, fact.event_uuid)
    if event is None:
        return
    person = await subjects.find(work, event.user_id) if event.user_id is not None else None
    given = {"event": messages.as_given(event)}
    request = PolicyRequest(person=person, context=given, client_ip=event.client_ip or "")
    wanted = []
    for rule in await store.rule_ids(work.db):
        verdict = await evaluate_target(work, rule, request, "any")
        if verdict.trace and verdict.passing and not _is_own_failure(event, [one.about for one in verdict.trace]):
            wanted.append(rule)
    if not wanted:
        await work.find(RuleWatch).settle(work)
    for rule in wanted:
        await _count(work, rule, event)


def _is_own_failure(event: Event, policies: list[str]) -> bool:
    """Whether one of the rule's own policies has failed: to ask it about that would fail again."""
    return event.action in ("policy_exception", "policy_execution") and event.context.get("policy_uuid") in policies


async def _count(work: Work, rule: str, event: Event) -> None:
    """Tell at once, or only count if the rule has told enough in this minute."""
    found = await RULES.find_stored(work.db, rule)
    if found is None:
        return
    window = await store.open_window(work.db, rule, work.now)
    if not window.held and work.now >= window.started_at + WINDOW:
        window.started_at, window.sent = work.now, 0
    if window.sent < MOST_AT_ONCE:
        window.sent += 1
        _deliver(work, found, event.event_uuid)
    else:
        window.held += 1
        window.last_event = event.event_uuid
        work.enqueue(TELL_HELD, HeldEvents(rule), at=window.started_at + WINDOW, key=rule)
    await store.keep_window(work.db, window)


async def tell_held(work: Work, held: HeldEvents) -> None:
    """What was counted, in one notification. The next minute begins full: it is quiet only after an empty one."""
    work.come_from(QUIET)
    found = await RULES.find_stored(work.db, held.rule)
    if found is None:
        return
    window = await store.open_window(work.db, held.rule, work.now)
    if window.held and window.last_event is not None:
        _deliver(work, found, window.last_event, count=window.held, since=window.started_at)
    window.started_at, window.sent, window.held, window.last_event = work.now, MOST_AT_ONCE, 0, None
    await store.keep_window(work.db, window)


def _deliver(
    work: Work, rule: StoredRecord[NotificationRuleRecord], event: str, *, count: int = 1, since: datetime | None = None
) -> None:
    for transport in rule.values["transports"]:
        delivery = NotificationDelivery(str(uuid.uuid4()), rule.record.pk, transport, event, count, since)
        work.enqueue(DELIVER, delivery)


# How it is told


async def deliver(work: Work, delivery: NotificationDelivery) -> None:
    """A page of recipients; the next page is a job of its own."""
    work.come_from(QUIET)
    rule = await RULES.find(work.db, delivery.rule)
    transport = await TRANSPORTS.find(work.db, delivery.transport)
    event = await store.find_event(work.db, delivery.event)
    if rule is None or transport is None or event is None:
        return  # somebody has ended it meanwhile
    found = await store.recipients(
        work.db,
        group=rule.destination_group,
        person=event.user_id if rule.destination_event_user else None,
        administrators=rule.destination_administrators,
        after=delivery.after,
        most=PAGE,
    )
    once = transport.send_once and transport.mode != LOCAL
    await _tell(work, delivery, rule, transport, event, found[:1] if once else found)
    if len(found) == PAGE and not once:
        rest = msgspec.structs.replace(delivery, id=str(uuid.uuid4()), after=found[-1].id)
        work.enqueue(DELIVER, rest)


async def _tell(
    work: Work,
    delivery: NotificationDelivery,
    rule: NotificationRuleRecord,
    transport: NotificationTransportRecord,
    event: Event,
    people: list[User],
) -> None:
    if transport.mode in (WEBHOOK, SLACK):
        whom: list[int | None] = [user.id for user in people]
        if transport.send_once and not whom and not delivery.after:
            whom = [None]  # a channel hears it, whether it is for somebody in particular or not
        for id in whom:
            one = msgspec.structs.replace(delivery, id=str(uuid.uuid4()))
            work.enqueue(CALL, WebhookCall(one, id), owner=f"transport:{one.transport}")
        return
    message = message_for(work, delivery, rule, event)
    for user in people:
        if transport.mode == EMAIL and user.counted_email:
            post(work, mail_for(work, transport, message, user))
        elif transport.mode == DIRECT and transport.direct_sender is not None:
            work.announce(DirectMessageAsked(transport.direct_sender, user.id, message.body))
    if transport.mode == LOCAL and people:
        await store.insert(work.db, [row_for(work, message, user.id, event.event_uuid) for user in people])


def message_for(work: Work, delivery: NotificationDelivery, rule: NotificationRuleRecord, event: Event) -> EventMessage:
    return EventMessage(
        id=delivery.id,
        rule=rule.name,
        severity=rule.severity,
        body=messages.describe(event, count=delivery.count, since=delivery.since),
        created=work.now,
        count=delivery.count,
        event=messages.as_given(event),
        event_user_username=event.username,
    )


EVENT = MailText(
    name="event",
    subject="{headline}",
    body="""Hello {name},

{event}

Severity: {severity}
Rule: {rule}
Server: {link}""",
    values={
        "name": "ada",
        "headline": "Our place: bob failed to sign in",
        "event": "bob failed to sign in",
        "severity": "warning",
        "rule": "failed sign-ins",
        "link": "https://our.example",
    },
)


def mail_for(work: Work, transport: NotificationTransportRecord, message: EventMessage, user: User) -> Mail:
    prefix = transport.email_subject_prefix or f"{work.settings.title}: "
    first = " ".join(message.body.partition("\n")[0].split())
    made = mail_texts.write(
        work,
        EVENT,
        user.locale,
        name=user.username,
        headline=f"{prefix}{first}",
        event=message.body,
        severity=message.severity,
        rule=message.rule,
        link=work.settings.base_url,
    )
    return Mail(to=user.email, subject=made.subject, text=made.text, html=made.html)


def row_for(work: Work, message: EventMessage, user_id: int, event: str | None) -> dict[str, object]:
    return {
        "uuid": str(uuid.uuid4()),
        "user_id": user_id,
        "severity": message.severity,
        "body": message.body,
        "event": event,
        "count": message.count,
        "seen": False,
        "created_at": work.now,
        "updated_at": work.now,
    }


async def call(work: Work, wanted: WebhookCall) -> None:
    """Any answer but a yes is tried again, unless the mapping cannot make anything that could be sent."""
    work.come_from(QUIET)
    delivery = wanted.delivery
    rule = await RULES.find(work.db, delivery.rule)
    transport = await TRANSPORTS.find_stored(work.db, delivery.transport, held=False)
    event = await store.find_event(work.db, delivery.event)
    if rule is None or transport is None or event is None or transport.record.mode not in (WEBHOOK, SLACK):
        return
    person = await subjects.find(work, wanted.user) if wanted.user is not None else None
    if wanted.user is not None and (person is None or not person.user.is_active):
        return
    message = message_for(work, delivery, rule, event)
    if person is not None:
        message.user_username, message.user_email = person.user.username, person.user.counted_email
    try:
        await webhook.send(work, transport.record, transport.values["webhook_secret"], message, wanted.user)
    except webhook.CannotBeSent as error:
        raise Give.up(str(error)) from error


MATCH: JobKind[EventRecorded] = JobKind(
    name="events.match", payload=EventRecorded, handler=match, outside=True, concurrency=4
)
TELL_HELD: JobKind[HeldEvents] = JobKind(name="events.tell_held", payload=HeldEvents, handler=tell_held)
DELIVER: JobKind[NotificationDelivery] = JobKind(name="events.deliver", payload=NotificationDelivery, handler=deliver)
CALL: JobKind[WebhookCall] = JobKind(
    name="events.call", payload=WebhookCall, handler=call, outside=True, concurrency=4, attempts=10, **MAKES_ROOM
)
