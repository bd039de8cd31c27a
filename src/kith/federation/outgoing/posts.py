"""New posts and boosts. They follow from a post with everything else that does, many of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.delivery.service import deliver
from kith.federation.documents.notes import KeptNote, notes_of
from kith.federation.documents.posts import activities_of
from kith.federation.outgoing import recipients
from kith.federation.relays import store as relays
from kith.federation.sync import digests
from kith.federation.vocabulary.outgoing import activities
from kith.federation.vocabulary.outgoing.contexts import Doc, with_context
from kith.federation.vocabulary.outgoing.identifiers import activity_of
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import store as statuses
from kith.social.statuses.facts import StatusPosted
from kith.social.statuses.tables import PRIVATE, PUBLIC, Status

__all__ = ["CARRY", "created", "digests_for", "with_relays"]


async def carry(work: Work, facts: Sequence[StatusPosted]) -> None:
    """Most posts concern nobody elsewhere: that is found out with one question for all of them."""
    ids = [fact.status_id for fact in facts]
    reached = await recipients.of_new_posts(work.db, ids)
    passing_on = await relays.enabled_inboxes(work.db)
    wanted = ids if passing_on else list(reached)
    rows = [one for one in (await statuses.find_all(work.db, wanted)).values() if one.local and one.deleted_at is None]
    if not rows:
        return
    documents = await _creates(work, rows) | await _announces(work, rows)
    headers = await digests_for(work, rows)
    for row in sorted(rows, key=lambda one: one.id):
        inboxes = with_relays(row, reached.get(row.id, []), passing_on)
        if row.id in documents and inboxes:
            await deliver(
                work,
                activity=documents[row.id],
                sender=row.account_id,
                inboxes=inboxes,
                headers_for=headers.get(row.account_id) if row.visibility == PRIVATE else None,
            )


def with_relays(row: Status, inboxes: Sequence[str], passing_on: Sequence[str]) -> list[str]:
    """Relays get what everybody may read, in its author's own words."""
    is_relayed = row.visibility == PUBLIC and row.reblog_of_id is None
    return list(dict.fromkeys((*inboxes, *(passing_on if is_relayed else ()))))


async def digests_for(work: Work, rows: Iterable[Status]) -> dict[AccountId, Mapping[str, Mapping[str, str]]]:
    """By the authors of what is for followers: with it each server is told whom we take for a follower there."""
    found = await accounts.find_all(work.db, list({row.account_id for row in rows if row.visibility == PRIVATE}))
    return {
        id: {
            domain: {"collection-synchronization": header}
            for domain, header in (await digests.headers_for(work, author)).items()
        }
        for id, author in found.items()
    }


async def _creates(work: Work, rows: Sequence[Status]) -> dict[StatusId, Doc]:
    notes = await notes_of(work, [row for row in rows if row.reblog_of_id is None])
    return {id: created(note) for id, note in notes.items()}


def created(note: KeptNote) -> Doc:
    """The note is JSON already, and stays the same for everybody."""
    return with_context(activities.create(note.head) | {"object": note.raw}, note.terms)


async def _announces(work: Work, rows: Sequence[Status]) -> dict[StatusId, Doc]:
    """Of a boost of what has gone meanwhile there is nothing to tell."""
    boosts = {activity_of(row.uri): row for row in rows if row.reblog_of_id is not None}
    if not boosts:
        return {}
    made = await activities_of(work, list(boosts.values()), next(iter(boosts.values())).account_id)
    return {boosts[one["id"]].id: with_context(one, made.terms) for one in made.items}


CARRY: JobKind[StatusPosted] = JobKind(
    name="federation_outgoing.posted", payload=StatusPosted, many=carry, is_harmless=True
)
