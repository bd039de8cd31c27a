"""Conversations."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.accounts.facts import AccountDeleted
from kith.social.conversations import api, tasks
from kith.social.errors import DIALECT
from kith.social.notifications.facts import MentionLetThrough, NotificationMade
from kith.social.relationships.facts import Blocked
from kith.social.statuses.facts import StatusDeleted

ROOM = Room(
    name="conversations",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(tasks.ADD_OWN, tasks.FORGET_ACCOUNT),
    subscriptions=((AccountDeleted, tasks.FORGET_ACCOUNT),),
    at_once=(
        (NotificationMade, tasks.add_mentioned),
        (MentionLetThrough, tasks.add_let_through),
        (StatusDeleted, tasks.drop_deleted),
        (Blocked, tasks.leave_blocked),
    ),
)
