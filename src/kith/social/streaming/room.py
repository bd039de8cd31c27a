"""What happens, as it happens."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.social.errors import DIALECT
from kith.social.streaming import api
from kith.social.streaming.keeping import Streaming

ROOM = Room(
    name="streaming",
    dialect=DIALECT,
    routes=tuple(api.routes),
    parts=(Part(Streaming, Streaming, close=Streaming.close),),
)
