"""Lists of servers to block that others keep."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.federation.block_lists import api, tasks
from kith.social.errors import DIALECT

ROOM = Room(
    name="federation block lists",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=tasks.KINDS,
    periodic=tasks.PERIODIC,
)
