"""Lists of accounts."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.errors import DIALECT
from kith.social.lists import api, tasks
from kith.social.relationships.facts import FollowMoved, FollowRejected, FollowWithdrawn, Unfollowed

ROOM = Room(
    name="lists",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(tasks.PART, tasks.GIVE_UP, tasks.ACCEPT_NO),
    subscriptions=(
        (Unfollowed, tasks.PART),
        (FollowWithdrawn, tasks.GIVE_UP),
        (FollowRejected, tasks.ACCEPT_NO),
    ),
    at_once=(
        (FollowMoved, tasks.take_along),
        (Unfollowed, tasks.part),
        (FollowWithdrawn, tasks.give_up),
        (FollowRejected, tasks.accept_no),
    ),
)
