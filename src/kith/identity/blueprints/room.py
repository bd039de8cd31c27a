"""Configuration as files: found in a folder or kept here, applied by the worker."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Room
from kith.identity.blueprints import tasks

ROOM = Room(
    name="blueprints",
    jobs=(tasks.DISCOVER, tasks.APPLY),
    periodic=(Periodic(kind=tasks.DISCOVER, every=timedelta(hours=1), payload=tasks.DiscoverBlueprints()),),
)
