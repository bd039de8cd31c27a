"""Attachments."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Room
from kith.social.accounts.facts import AccountDeleted
from kith.social.errors import DIALECT
from kith.social.media import api, deletion, tasks

ROOM = Room(
    name="media",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(tasks.PROCESS, tasks.FORGET, tasks.SWEEP, deletion.LEAVE),
    periodic=(Periodic(kind=tasks.SWEEP, every=timedelta(hours=1), payload=tasks.SweepMedia()),),
    subscriptions=((AccountDeleted, deletion.LEAVE),),
)
