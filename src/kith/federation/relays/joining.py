"""Which relays there are: asked with a Follow of everybody, enabled by an Accept, left with an Undo."""

from __future__ import annotations

import uuid

from kith.base.db import Taken
from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.work import Work
from kith.federation.addresses import checked_address
from kith.federation.gate.service import Gate
from kith.federation.relays import store
from kith.federation.relays.facts import RelayAsked, RelayLeft
from kith.federation.relays.tables import FederationRelay
from kith.federation.vocabulary.incoming.ids import domain_of
from kith.federation.vocabulary.outgoing import identifiers
from kith.social.staff import Staff, record

__all__ = ["add", "ask_again", "find", "remove"]


async def add(work: Work, by: Staff, text: str) -> FederationRelay:
    by.check("manage_federation")
    inbox = checked_address(work.settings, "inbox_url", text)
    if not await work.find(Gate).admits(domain_of(inbox), work):
        raise Invalid(fields={"inbox_url": [Complaint("is of a server that is shut out here")]})
    new = FederationRelay(work.new_id(), inbox, "asked", _follow_uri(work), work.now)
    try:
        async with work.db.savepoint():
            await store.insert(work.db, new)
    except Taken as error:
        raise Invalid(fields={"inbox_url": [Complaint("has already been taken", "taken")]}) from error
    work.announce(RelayAsked(inbox=inbox, follow_uri=new.follow_uri))
    await record(work, by, "create_relay", inbox=inbox)
    return new


def _follow_uri(work: Work) -> str:
    return identifiers.any_id(work.settings, uuid.uuid4())


async def find(work: Work, id: int) -> FederationRelay:
    found = await store.find(work.db, id)
    if found is None:
        raise NotFound
    return found


async def ask_again(work: Work, by: Staff, id: int) -> FederationRelay:
    """For one that has refused, or has not answered."""
    by.check("manage_federation")
    found = await find(work, id)
    if found.state != "enabled":
        await store.answer(work.db, id, "asked", None)
        work.announce(RelayAsked(inbox=found.inbox, follow_uri=found.follow_uri))
        await record(work, by, "enable_relay", inbox=found.inbox)
    return await find(work, id)


async def remove(work: Work, by: Staff, id: int) -> None:
    by.check("manage_federation")
    found = await find(work, id)
    await store.remove(work.db, id)
    work.announce(RelayLeft(inbox=found.inbox, follow_uri=found.follow_uri))
    await record(work, by, "destroy_relay", inbox=found.inbox)
