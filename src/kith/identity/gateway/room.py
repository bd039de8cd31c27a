"""The application gateway."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.http import PrivateHosts
from kith.base.jobs import JobKind, Periodic
from kith.base.rooms import Part, Room
from kith.base.work import Work, Works
from kith.identity.applications.service import ApplicationClosed
from kith.identity.audit.hidden_attributes import HiddenAttributes
from kith.identity.gateway import store
from kith.identity.gateway.additional_names import AdditionalNames
from kith.identity.gateway.believed_attributes import BelievedAttributes
from kith.identity.gateway.decisions import Decisions
from kith.identity.gateway.facts import GatewayLeft
from kith.identity.gateway.gateways import Gateways
from kith.identity.gateway.logins import HeaderLogins
from kith.identity.gateway.open_entries import OpenEntries
from kith.identity.gateway.upstream.pool import UpstreamPool
from kith.identity.groups.facts import GroupChanged
from kith.identity.providers.facts import GatewayChanged
from kith.identity.rest.facts import AccessChanged
from kith.identity.sessions.service import SessionEnded, SessionRenewed
from kith.identity.stages.gateway_attributes import GatewayAttributes
from kith.identity.tokens.facts import AccessEnded, TokenEnded
from kith.identity.users.service import UserBarred, UserChanged, UserCreated, UserDeleted

# Whatever may turn a yes into a no, or change what is told of somebody.
CHANGES = (
    AccessChanged, AccessEnded, ApplicationClosed, GatewayChanged, GatewayLeft, SessionEnded, SessionRenewed,
    TokenEnded, UserBarred, UserChanged, UserDeleted,
)  # fmt: skip


class GatewaySweep(msgspec.Struct):
    """Deletes sessions at gateways that have expired."""


async def _sweep(work: Work, _payload: GatewaySweep) -> None:
    await store.delete_expired(work.db, work.now)


async def _session_ended(work: Work, fact: SessionEnded) -> None:
    await store.end_of_session(work.db, fact.session_uuid)


async def _session_renewed(work: Work, fact: SessionRenewed) -> None:
    await store.move(work.db, fact.old, fact.new)


def listen_for_changes(works: Works) -> None:
    """For a process that answers as the gateway: what it keeps is forgotten when something changes."""
    names: AdditionalNames = works.services[AdditionalNames]
    gateways: Gateways = works.services[Gateways]
    decisions: Decisions = works.services[Decisions]
    entries: OpenEntries = works.services[OpenEntries]

    def forget(_fact: object) -> None:
        decisions.forget()
        gateways.forget()
        entries.look()

    def note(fact: GroupChanged | UserChanged | UserCreated) -> None:
        names.note(fact)
        gateways.forget()

    for fact in CHANGES:
        works.news.listen(fact, forget)
    for changed in (GroupChanged, UserChanged, UserCreated):
        works.news.listen(changed, note)


SWEEP: JobKind[GatewaySweep] = JobKind(name="identity.gateway_sweep", payload=GatewaySweep, handler=_sweep)

ROOM = Room(
    name="gateway",
    jobs=(SWEEP,),
    periodic=(Periodic(kind=SWEEP, every=timedelta(hours=1), payload=GatewaySweep()),),
    at_once=((SessionEnded, _session_ended), (SessionRenewed, _session_renewed)),
    parts=(
        Part(AdditionalNames, lambda _: AdditionalNames()),
        Part(Gateways, lambda works: Gateways(works, works.services[AdditionalNames].refresh)),
        Part(BelievedAttributes, lambda _: BelievedAttributes(), also=(GatewayAttributes, HiddenAttributes)),
        Part(Decisions, lambda _: Decisions()),
        Part(HeaderLogins, lambda _: HeaderLogins()),
        Part(
            UpstreamPool,
            lambda works: UpstreamPool(PrivateHosts(works.settings.private_hosts)),
            close=UpstreamPool.close,
        ),
        Part(OpenEntries, OpenEntries, close=OpenEntries.close),
    ),
)
