"""Relays."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.federation.relays import api, tasks
from kith.federation.relays.facts import RelayAsked, RelayLeft
from kith.social.errors import DIALECT

ROOM = Room(
    name="federation relays",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(tasks.ASK, tasks.LEAVE),
    subscriptions=((RelayAsked, tasks.ASK), (RelayLeft, tasks.LEAVE)),
)
