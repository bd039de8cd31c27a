"""Stored files, and the programs that make them ready."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.social.files import api
from kith.social.files.workshop import Workshop

ROOM = Room(
    name="files",
    dialect=api.DIALECT,
    routes=tuple(api.routes),
    parts=(Part(Workshop, lambda works: Workshop(works.settings.data / "workshop")),),
)
