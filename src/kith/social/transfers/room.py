"""What people take along and bring with them: CSV files of whom they follow, mute and block, of lists and bookmarks."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.social.errors import DIALECT
from kith.social.transfers import tasks
from kith.social.transfers.clearing import NamesInFiles

ROOM = Room(
    name="transfers",
    dialect=DIALECT,
    parts=(Part(NamesInFiles, lambda _: NamesInFiles()),),
    jobs=(tasks.IMPORT, tasks.FORGET),
    periodic=(Periodic(kind=tasks.FORGET, every=timedelta(hours=12), payload=tasks.ForgetImports()),),
)
