"""Followers synchronisation."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.federation.documents.answers import DIALECT
from kith.federation.sync import api, receiving, tasks
from kith.federation.sync.facts import GhostFollowFound

ROOM = Room(
    name="federation sync",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(receiving.SYNCHRONIZE, tasks.TAKE_BACK),
    subscriptions=((GhostFollowFound, tasks.TAKE_BACK),),
)
