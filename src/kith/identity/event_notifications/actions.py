"""Actions beside the collections: trying a transport out, and having seen everything."""

from __future__ import annotations

import uuid

from kith.base.errors import Conflict, Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.jobs import Give
from kith.base.limits import Limiter, LimitRule
from kith.base.mailing import post
from kith.identity.caller import ApiCaller
from kith.identity.event_notifications import store, tasks, webhook
from kith.identity.event_notifications.facts import DirectMessageAsked
from kith.identity.event_notifications.message import EventMessage
from kith.identity.event_notifications.transports import DIRECT, EMAIL, LOCAL, NotificationTransportRecord
from kith.identity.rest import Action
from kith.identity.rest.answers import NOTHING, show
from kith.identity.rest.fields import read_uuid
from kith.identity.users import store as users

TESTS = LimitRule("notification-tests", most=20, seconds=300)


async def test_transport(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    """A notification for the caller. A webhook is called now, so that the answer says what came of it."""
    work = exchange.work
    found_uuid = read_uuid(id)
    found = await tasks.TRANSPORTS.find_stored(work.db, found_uuid, held=False) if found_uuid else None
    if found is None:
        raise NotFound
    exchange.find(Limiter).spend(TESTS, str(caller.id))
    transport = found.record
    message = EventMessage(
        id=str(uuid.uuid4()),
        rule="",
        severity="notice",
        body=f"This is a test of the transport {transport.name}.",
        created=work.now,
    )
    if transport.mode in (LOCAL, EMAIL, DIRECT):
        return show({"messages": [await _ask(exchange, transport, message, caller.id)]})
    user = await users.get(work.db, caller.id)
    message.user_username, message.user_email = user.username, user.counted_email
    try:
        await webhook.send(work, transport, found.values["webhook_secret"], message, caller.id)
    except (webhook.NotSent, webhook.CannotBeSent, Give) as error:
        raise Conflict(f"It was not delivered. {error}") from error
    return show({"messages": ["The receiver has taken it."]})


async def _ask(exchange: Exchange, transport: NotificationTransportRecord, message: EventMessage, user_id: int) -> str:
    work = exchange.work
    user = await users.get(work.db, user_id)
    if transport.mode == LOCAL:
        await store.insert(work.db, [tasks.row_for(work, message, user_id, None)])
        return "It is at /events/notifications/."
    if transport.mode == EMAIL:
        if not user.counted_email:
            raise Invalid(fields={"": ["You have no confirmed e-mail address to which it could be sent."]})
        post(work, tasks.mail_for(work, transport, message, user))
        return f"It is on its way to {user.counted_email}."
    if transport.direct_sender is None:
        raise Invalid(fields={"": ["The sender of this transport is gone."]})
    work.announce(DirectMessageAsked(transport.direct_sender, user_id, message.body))
    return "The direct message is on its way."


async def mark_all_seen(exchange: Exchange, caller: ApiCaller, _id: str) -> Answer:
    await store.see_all(exchange.work.db, caller.id, exchange.work.now)
    return NOTHING


ACTIONS = (
    Action(
        method="POST",
        path="/events/transports/{id}/test/",
        name="events_transports_test",
        handler=test_transport,
        permission="events.change_notificationtransport",
        answer="NotificationTransportTest",
        summary="Send the caller a notification by this transport.",
    ),
    Action(
        method="POST",
        path="/events/notifications/mark_all_seen/",
        name="events_notifications_mark_all_seen",
        handler=mark_all_seen,
        permission=None,
        status=204,
        summary="Mark all of the caller's notifications as seen.",
    ),
)
