from __future__ import annotations

from kith.base.rooms import Room
from kith.identity.for_social import DirectMessageAsked
from kith.social.event_messages import tasks

ROOM = Room(name="event messages", jobs=(tasks.SEND,), subscriptions=((DirectMessageAsked, tasks.SEND),))
