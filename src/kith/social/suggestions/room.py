"""Suggestions: whom somebody might want to follow."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Room
from kith.social.accounts.facts import AccountDeleted
from kith.social.errors import DIALECT
from kith.social.relationships.facts import Blocked, Followed, Muted
from kith.social.statuses.facts import StatusFavourited
from kith.social.suggestions import api, tasks

ROOM = Room(
    name="suggestions",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(
        tasks.COUNT_POSTS,
        tasks.COUNT_FAVOURITE,
        tasks.FORGET_FOLLOWED,
        tasks.FORGET_MUTED,
        tasks.FORGET_BLOCKED,
        tasks.FORGET_OLD,
        tasks.FORGET_ACCOUNT,
    ),
    periodic=(Periodic(kind=tasks.FORGET_OLD, every=timedelta(days=1), payload=tasks.ForgetInteractions()),),
    subscriptions=(
        (StatusFavourited, tasks.COUNT_FAVOURITE),
        (Followed, tasks.FORGET_FOLLOWED),
        (Muted, tasks.FORGET_MUTED),
        (Blocked, tasks.FORGET_BLOCKED),
        (AccountDeleted, tasks.FORGET_ACCOUNT),
    ),
)
