"""Collections: accounts that somebody shows together."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.accounts.facts import AccountDeleted
from kith.social.collections import api, tasks
from kith.social.errors import DIALECT
from kith.social.relationships.facts import Blocked

ROOM = Room(
    name="collections",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(tasks.FORGET_ACCOUNT,),
    subscriptions=((AccountDeleted, tasks.FORGET_ACCOUNT),),
    at_once=((Blocked, tasks.part),),
)
