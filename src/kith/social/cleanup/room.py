"""Automatic deletion: members' own old posts, if they want it."""

from __future__ import annotations

from kith.base.jobs import Periodic
from kith.base.rooms import Room
from kith.social.accounts.facts import AccountDeleted
from kith.social.cleanup import api, tasks
from kith.social.errors import DIALECT

ROOM = Room(
    name="cleanup",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(tasks.GO_ROUND, tasks.TURN, tasks.FORGET_ACCOUNT),
    periodic=(Periodic(kind=tasks.GO_ROUND, every=tasks.ROUND, payload=tasks.CleanupRound()),),
    subscriptions=((AccountDeleted, tasks.FORGET_ACCOUNT),),
)
