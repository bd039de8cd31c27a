"""Stored files, and the programs that make them ready."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.social.files import api
from kith.social.files.decoder_processes import DecoderProcesses
from kith.social.files.fetches import FileFetches
from kith.social.files.former import show_former_file

ROOM = Room(
    name="files",
    dialect=api.DIALECT,
    routes=(*api.routes, show_former_file),
    parts=(
        Part(DecoderProcesses, lambda works: DecoderProcesses(works.settings.data / "workshop")),
        Part(FileFetches, lambda _: FileFetches()),
    ),
)
