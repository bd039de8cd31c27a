"""What relays are told, in the name of the server."""

from __future__ import annotations

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.delivery.service import deliver
from kith.federation.relays.facts import RelayAsked, RelayLeft
from kith.federation.vocabulary.outgoing import activities, identifiers
from kith.federation.vocabulary.outgoing.contexts import PUBLIC, Doc

__all__ = ["ASK", "LEAVE"]


def _follow(work: Work, uri: str) -> Doc:
    """Of everybody: what a relay passes on is public."""
    return activities.follow(identifiers.server_actor(work.settings), PUBLIC, uri)


async def ask(work: Work, fact: RelayAsked) -> None:
    await deliver(work, activity=_follow(work, fact.follow_uri), sender=None, inboxes=[fact.inbox], even_if_dead=True)


async def leave(work: Work, fact: RelayLeft) -> None:
    undone = activities.undo(_follow(work, fact.follow_uri), f"{fact.follow_uri}/undo")
    await deliver(work, activity=undone, sender=None, inboxes=[fact.inbox])


ASK: JobKind[RelayAsked] = JobKind(name="federation_relays.ask", payload=RelayAsked, handler=ask, is_harmless=True)
LEAVE: JobKind[RelayLeft] = JobKind(name="federation_relays.leave", payload=RelayLeft, handler=leave, is_harmless=True)
