"""Stored files, and the programs that make them ready."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.social.files import api
from kith.social.files.decoder_processes import DecoderProcesses

ROOM = Room(
    name="files",
    dialect=api.DIALECT,
    routes=tuple(api.routes),
    parts=(Part(DecoderProcesses, lambda works: DecoderProcesses(works.settings.data / "workshop")),),
)
