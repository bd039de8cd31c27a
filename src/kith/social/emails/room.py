"""Confirming an address through an app."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.emails import api
from kith.social.errors import DIALECT

ROOM = Room(
    name="emails",
    dialect=DIALECT,
    routes=tuple(api.routes),
)
