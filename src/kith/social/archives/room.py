"""Archives of all that somebody posted, for themselves."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Room
from kith.social.accounts.facts import AccountDeleted
from kith.social.archives import tasks
from kith.social.errors import DIALECT

ROOM = Room(
    name="archives",
    dialect=DIALECT,
    jobs=(tasks.MAKE, tasks.SWEEP, tasks.END_ALL),
    periodic=(Periodic(kind=tasks.SWEEP, every=timedelta(hours=1), payload=tasks.SweepArchives()),),
    subscriptions=((AccountDeleted, tasks.END_ALL),),
)
