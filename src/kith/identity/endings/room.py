"""Ends of people, memberships, bindings and access that was given on request."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Room
from kith.identity.endings import tasks
from kith.identity.rest.facts import AccessChanged, EndPlanned
from kith.identity.users.service import UserDeleted

ROOM = Room(
    name="endings",
    jobs=(tasks.END, *tasks.KINDS),
    periodic=(Periodic(kind=tasks.END, every=timedelta(minutes=1), payload=tasks.DueEnds()),),
    at_once=((EndPlanned, tasks.plan), (UserDeleted, tasks.look), (AccessChanged, tasks.look)),
)
