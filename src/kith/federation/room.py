"""The server among other servers."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.federation.discovery import api as discovery
from kith.federation.documents import api as documents
from kith.federation.documents.answers import DIALECT
from kith.federation.documents.notes import NoteDocuments
from kith.federation.documents.people import ActorDocuments
from kith.federation.documents.signers import AllStrangers, Signers
from kith.social.representations import Representations

ROOM = Room(
    name="federation",
    dialect=DIALECT,
    routes=(*discovery.routes, *documents.routes),
    parts=(
        Part(NoteDocuments, lambda _: NoteDocuments()),
        Part(ActorDocuments, lambda _: ActorDocuments()),
        Part(Signers, lambda _: AllStrangers()),
        Part(Representations, lambda _: documents.Documents()),
    ),
)
