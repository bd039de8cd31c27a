"""Services that are told of people and groups as they change."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.identity.providers.scim import tasks

ROOM = Room(
    name="scim",
    jobs=(tasks.PUSH, tasks.SWEEP, *(kind for _, kind in tasks.SUBSCRIPTIONS)),
    periodic=(tasks.PERIODIC,),
    subscriptions=tasks.SUBSCRIPTIONS,
)
