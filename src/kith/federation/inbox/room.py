"""Where other servers write to us."""

from __future__ import annotations

from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.federation.documents.answers import DIALECT
from kith.federation.documents.signers import Signers
from kith.federation.inbox import api, tasks
from kith.federation.inbox.driver import Driver
from kith.federation.inbox.intake import Intake
from kith.federation.inbox.known_keys import KnownKeys
from kith.federation.inbox.signers import RequestSigners
from kith.federation.inbox.turns import InboxTurns

ROOM = Room(
    name="federation inbox",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=tasks.KINDS,
    periodic=(Periodic(kind=tasks.SWEEP, every=tasks.SWEPT, payload=tasks.SweepInbox()),),
    parts=(
        Part(KnownKeys, KnownKeys),
        Part(Intake, Intake),
        Part(InboxTurns, lambda _: InboxTurns()),
        Part(Driver, Driver),
        Part(Signers, lambda _: RequestSigners()),
    ),
)
