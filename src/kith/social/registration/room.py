"""Signing up through an app, and what follows when somebody has come in."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.accounts.facts import AccountWelcomed
from kith.social.errors import DIALECT
from kith.social.registration import api, tasks

ROOM = Room(
    name="registration",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(tasks.RECEIVE, tasks.WELCOME),
    subscriptions=((AccountWelcomed, tasks.RECEIVE),),
)
