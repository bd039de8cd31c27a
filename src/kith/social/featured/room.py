"""Hashtags that people show on their profiles."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.errors import DIALECT
from kith.social.featured import api

ROOM = Room(
    name="featured",
    dialect=DIALECT,
    routes=tuple(api.routes),
)
