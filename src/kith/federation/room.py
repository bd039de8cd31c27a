"""The server among other servers."""

from __future__ import annotations

from kith.base.http import Outgoing
from kith.base.rooms import Part, Room
from kith.base.work import Works
from kith.federation import peers_api
from kith.federation.delivery.ports import DeliveryGate
from kith.federation.discovery import api as discovery
from kith.federation.documents import api as documents
from kith.federation.documents.answers import DIALECT
from kith.federation.documents.archive import OwnDocuments
from kith.federation.documents.notes import NoteDocuments
from kith.federation.documents.people import ActorDocuments
from kith.federation.fetching import RemoteClient
from kith.federation.fetching.our_signer import OurSigner
from kith.federation.gate.service import Gate
from kith.social.archives.documents import ArchiveDocuments
from kith.social.representations import Representations


def _client(works: Works) -> RemoteClient:
    return RemoteClient(works.services[Outgoing], works.settings.private_hosts, works.services[Gate])


ROOM = Room(
    name="federation",
    dialect=DIALECT,
    routes=(*discovery.routes, *documents.routes, *peers_api.routes),
    parts=(
        Part(Gate, Gate, also=(DeliveryGate,)),
        Part(RemoteClient, _client),
        Part(OurSigner, OurSigner),
        Part(NoteDocuments, lambda _: NoteDocuments()),
        Part(ActorDocuments, lambda _: ActorDocuments()),
        Part(ArchiveDocuments, lambda _: OwnDocuments()),
        Part(Representations, lambda _: documents.Documents()),
    ),
)
