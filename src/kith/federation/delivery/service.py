"""Sending an activity: rows and jobs in the transaction of whatever it tells of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any

import msgspec

from kith.base.breath import Breath
from kith.base.work import Work
from kith.federation.delivery import store
from kith.federation.delivery.addresses import read_inbox
from kith.federation.delivery.ports import DeliveryGate
from kith.federation.delivery.tables import DeliveryHost
from kith.federation.delivery.tasks import send_to
from kith.federation.vocabulary.outgoing.contexts import Doc, with_context
from kith.social.ids import AccountId

__all__ = ["DeliveryPriority", "deliver"]

AT_ONCE = 500  # inboxes, between which others on the loop have a turn
_ABOUT_OBJECT = frozenset({"Create", "Update", "Delete", "Undo", "Add", "Remove"})
_encode = msgspec.json.Encoder().encode


class DeliveryPriority(IntEnum):
    """How many attempts may follow the first: some news is not worth days of them."""

    NORMAL = 16
    LOW = 8


async def deliver(
    work: Work,
    *,
    activity: Doc,
    sender: AccountId | None,
    inboxes: Iterable[str],
    even_if_dead: bool = False,
    priority: DeliveryPriority = DeliveryPriority.NORMAL,
    headers_for: Mapping[str, Mapping[str, str]] | None = None,
    with_previous_key: bool = False,
) -> None:
    """Have `activity` sent to each inbox once, in the name of `sender` or, without one, of the server.

    Hosts that the gate does not admit are left out, and those that have not answered for days unless `even_if_dead`.
    `headers_for` are further headers by domain, lower-case names, which are signed as well. `with_previous_key` signs
    with the key that was in use before the last rotation, where there is one: others believe that one already.
    """
    places = await _places(work, inboxes)
    known = await store.hosts_of(work.db, list(dict.fromkeys(places.values()))) if places else {}
    places = {inbox: domain for inbox, domain in places.items() if even_if_dead or not _is_dead(known.get(domain))}
    if not places:
        return
    outgoing_id = work.new_id()
    text = _encode(activity if "@context" in activity else with_context(activity))
    await store.add_outgoing(
        work.db,
        id=outgoing_id,
        sender=sender,
        activity=text.decode(),
        with_previous_key=with_previous_key,
        made_at=work.now,
    )
    subject = subject_of(activity)
    rows = [
        _row(work, outgoing_id, inbox, domain, sender)
        | {
            "subject": subject,
            "headers": dict(headers_for[domain]) if headers_for and domain in headers_for else None,
            "retries": int(priority),
            "size": len(text),
            "even_if_dead": even_if_dead,
        }
        for inbox, domain in places.items()
    ]
    breath = Breath()
    for first in range(0, len(rows), AT_ONCE):
        await store.add_deliveries(work.db, rows[first : first + AT_ONCE])
        await breath.take()
    for domain in dict.fromkeys(places.values()):
        send_to(work, known.get(domain) or DeliveryHost(domain))


def subject_of(activity: Doc) -> int:
    """The same for what begins something and for what changes or ends it, by whatever other activity."""
    about = activity.get("object") if activity.get("type") in _ABOUT_OBJECT else activity
    name = about.get("id") if isinstance(about, Mapping) else about
    if not isinstance(name, str):
        return 0
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest()) >> 1


async def _places(work: Work, inboxes: Iterable[str]) -> dict[str, str]:
    """The domain of each inbox that may be written to."""
    found: dict[str, str] = {}
    admitted: dict[str, bool] = {}
    gate = work.find(DeliveryGate)  # type: ignore[type-abstract]
    breath = Breath()
    for number, text in enumerate(inboxes):
        if number % AT_ONCE == 0:
            await breath.take()
        place = read_inbox(text, work.settings)
        if place is None:
            continue
        if place.domain not in admitted:
            admitted[place.domain] = await gate.admits(place.domain, work)
        if admitted[place.domain]:
            found[place.url] = place.domain
    return found


def _is_dead(host: DeliveryHost | None) -> bool:
    return host is not None and host.unavailable_since is not None


def _row(work: Work, outgoing_id: int, inbox: str, domain: str, sender: AccountId | None) -> dict[str, Any]:
    return {
        "id": work.new_id(),
        "outgoing_id": outgoing_id,
        "domain": domain,
        "inbox": inbox,
        "sender": sender or 0,
        "attempts": 0,
        "next_at": work.now,
        "held_by": None,
        "held_until": None,
    }
