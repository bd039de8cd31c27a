"""How full the server is, from day to day."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Room
from kith.web.errors import DIALECT
from kith.web.levels import tasks

ROOM = Room(
    name="levels",
    dialect=DIALECT,
    jobs=(tasks.NOTE,),
    periodic=(Periodic(kind=tasks.NOTE, every=timedelta(minutes=10), payload=tasks.NoteLevels()),),
)
