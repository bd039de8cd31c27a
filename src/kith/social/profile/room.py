"""One's own profile."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.errors import DIALECT
from kith.social.profile import api

ROOM = Room(
    name="profile",
    dialect=DIALECT,
    routes=tuple(api.routes),
)
