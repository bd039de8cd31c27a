"""Signing up through an app."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.errors import DIALECT
from kith.social.registration import api

ROOM = Room(
    name="registration",
    dialect=DIALECT,
    routes=tuple(api.routes),
)
