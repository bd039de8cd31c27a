"""Hashtags."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.errors import DIALECT
from kith.social.tags import api

ROOM = Room(
    name="tags",
    dialect=DIALECT,
    routes=tuple(api.routes),
)
