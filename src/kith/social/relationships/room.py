"""Who follows, blocks and mutes whom."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Room
from kith.social.accounts.facts import AccountDeleted
from kith.social.errors import DIALECT
from kith.social.relationships import api, read_api, tasks

ROOM = Room(
    name="relationships",
    dialect=DIALECT,
    routes=(*api.routes, *read_api.routes),
    jobs=(tasks.END_MUTES, tasks.LET_IN, tasks.CUT_TIES, tasks.LEAVE),
    periodic=(Periodic(kind=tasks.END_MUTES, every=timedelta(minutes=1), payload=tasks.EndMutes()),),
    subscriptions=((AccountDeleted, tasks.LEAVE),),
)
