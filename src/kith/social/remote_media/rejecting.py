"""Servers of which the team wants no files: what was fetched from them goes, and comes back when they are let in again.

What they attach is only linked to meanwhile, and their people are shown without pictures.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.admission import store as admission
from kith.social.admission.facts import ServerAllowChanged, ServerBlockChanged
from kith.social.emojis import remote as remote_emojis
from kith.social.emojis.remote_files import key_of
from kith.social.files.keys import folder_of, new_name
from kith.social.remote_media import store
from kith.social.remote_media.budget import dropped
from kith.social.remote_media.service import is_rejected
from kith.social.statuses.cards import store as cards

BATCH = 200


class Reject(msgspec.Struct):
    """What holds now for the files of a domain: people and emoji of it, attachments and cards of those below too."""

    domain: str
    part: str = "attachments"
    after: int = 0


async def begin(work: Work, fact: ServerBlockChanged | ServerAllowChanged) -> None:
    """Emoji of a server that is suspended are forgotten; they are learned anew from whatever comes later."""
    for known in await admission.known_below(work.db, fact.domain):
        for part in ("people", "emoji"):
            work.enqueue(REJECT, Reject(domain=known, part=part))
    for part in ("attachments", "cards"):
        work.enqueue(REJECT, Reject(domain=fact.domain, part=part))


async def reject(work: Work, payload: Reject) -> None:
    """A stretch at a time, each a job of its own."""
    await work.db.begin()
    last = await _PARTS[payload.part](work, payload)
    if last is not None:
        work.enqueue(REJECT, msgspec.structs.replace(payload, after=last))


async def _people(work: Work, payload: Reject) -> int | None:
    """The last one looked at, if there may be more; so do the others."""
    ids = await store.people_at(work.db, payload.domain, payload.after, BATCH)
    await store.hide_pictures(work.db, ids, hidden=await is_rejected(work, payload.domain))
    return ids[-1] if len(ids) == BATCH else None


async def _emoji(work: Work, payload: Reject) -> int | None:
    if not await is_rejected(work, payload.domain):
        return None
    rules = await admission.blocks_of(work.db, payload.domain)
    if rules and rules[0].severity == "suspend":
        gone = await remote_emojis.purge(work, payload.domain, BATCH)
    else:
        gone = await remote_emojis.page(work, payload.domain, payload.after, BATCH)
    if gone:
        dropped(work, [], [key_of(one) for one in gone], "rejected")
    return max(one.id for one in gone) if len(gone) == BATCH else None


async def _attachments(work: Work, payload: Reject) -> int | None:
    rows = await store.attachments_below(work.db, payload.domain, payload.after, BATCH)
    refused = {domain: await is_rejected(work, domain) for domain in {domain for _, domain in rows}}
    await store.show_again(work.db, [id for id, domain in rows if not refused[domain]])
    unwanted = [id for id, domain in rows if refused[domain]]
    if unwanted:
        dropped(work, await store.withhold(work.db, unwanted), [], "rejected")
    return rows[-1][0] if len(rows) == BATCH else None


async def _cards(work: Work, payload: Reject) -> int | None:
    rows = await store.cards_with_images(work.db, payload.after, BATCH)
    for id, url, data in rows:
        host = (urlsplit(url).hostname or "").lower()
        if host == payload.domain or host.endswith(f".{payload.domain}"):
            await _card(work, id, data, rejected=await is_rejected(work, host))
    return rows[-1][0] if len(rows) == BATCH else None


async def _card(work: Work, id: int, data: dict[str, Any], *, rejected: bool) -> None:
    """A picture that is shown again has a name, and is fetched under it by whoever looks."""
    if rejected == (data["image"] is None):
        return
    image = None if rejected else f"{folder_of(store.CARDS, id)}/small/{new_name()}.jpg"
    await store.set_card(work.db, id, data | {"image": image})
    await cards.show_anew(work.db, id)
    if rejected:
        dropped(work, [], [data["image"]], "rejected")


_PARTS = {"people": _people, "emoji": _emoji, "attachments": _attachments, "cards": _cards}
BEGIN_ALLOWED: JobKind[ServerAllowChanged] = JobKind(
    name="media.server_allow", payload=ServerAllowChanged, handler=begin
)
BEGIN: JobKind[ServerBlockChanged] = JobKind(name="media.server_block", payload=ServerBlockChanged, handler=begin)
REJECT: JobKind[Reject] = JobKind(name="media.reject", payload=Reject, handler=reject)
