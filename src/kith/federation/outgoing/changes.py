"""Posts that are other than before: edited, voted on, quoted with leave, with another policy; and deleted ones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.delivery.service import deliver
from kith.federation.documents.notes import notes_of
from kith.federation.outgoing import recipients
from kith.federation.outgoing.concerns import knows_anybody
from kith.federation.outgoing.posts import digests_for, with_relays
from kith.federation.relays import store as relays
from kith.federation.vocabulary.outgoing import activities
from kith.federation.vocabulary.outgoing.contexts import Doc, with_context
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import store as statuses
from kith.social.statuses.facts import BoostWithdrawn, PollEnded, StatusDeleted, StatusEdited
from kith.social.statuses.tables import PRIVATE, Status

__all__ = ["KINDS", "tell_of_edit_later", "tell_of_votes_later"]

EDITED_AFTER = timedelta(seconds=5)
COUNTED_AFTER = timedelta(seconds=30)


class TellVotes(msgspec.Struct):
    """A poll of somebody here was voted in; whatever is given within a moment is told together."""

    status_id: StatusId


async def tell_of_edit_later(work: Work, fact: StatusEdited) -> None:
    """Whatever else is changed of the post within a moment is told with it."""
    if await knows_anybody(work.db):
        work.enqueue(EDITED, fact, at=work.now + EDITED_AFTER, key=str(fact.status_id))


async def tell_of_edits(work: Work, facts: Sequence[StatusEdited]) -> None:
    """Several of a post in one batch are told as one: all of them would say the same."""
    await _tell_anew(work, [fact.status_id for fact in facts])


async def tell_of_ends(work: Work, facts: Sequence[PollEnded]) -> None:
    await _tell_anew(work, [fact.status_id for fact in facts])


async def tell_of_votes(work: Work, payloads: Sequence[TellVotes]) -> None:
    await _tell_anew(work, [one.status_id for one in payloads])


def tell_of_votes_later(work: Work, status_id: StatusId) -> None:
    work.enqueue(TELL_VOTES, TellVotes(status_id), at=work.now + COUNTED_AFTER, key=str(status_id))


async def _tell_anew(work: Work, ids: Sequence[StatusId]) -> None:
    found = await statuses.find_all(work.db, list(dict.fromkeys(ids)))
    rows = [one for one in found.values() if _is_own(one) and one.deleted_at is None]
    if not rows:
        return
    reached = await recipients.of_changed_posts(work.db, [row.id for row in rows])
    passing_on = await relays.enabled_inboxes(work.db)
    told = {row.id: with_relays(row, reached.get(row.id, []), passing_on) for row in rows}
    rows = [row for row in rows if told[row.id]]
    notes = await notes_of(work, rows) if rows else {}
    headers = await digests_for(work, rows)
    for row in rows:
        note = notes[row.id]
        activity = activities.update_note(note.head, work.now) | {"object": note.raw}
        await deliver(
            work,
            activity=with_context(activity, note.terms),
            sender=row.account_id,
            inboxes=told[row.id],
            headers_for=headers.get(row.account_id) if row.visibility == PRIVATE else None,
        )


def _is_own(row: Status) -> bool:
    """Somebody's own words, said here."""
    return row.local and row.reblog_of_id is None


# What is gone. The rows stay for a while, with all that hung on them.


async def tell_of_deletions(work: Work, facts: Sequence[StatusDeleted]) -> None:
    await _tell_of_end(work, [fact.status_id for fact in facts])


async def tell_of_withdrawals(work: Work, facts: Sequence[BoostWithdrawn]) -> None:
    await _tell_of_end(work, [fact.status_id for fact in facts])


async def _tell_of_end(work: Work, ids: Sequence[StatusId]) -> None:
    """That somebody is gone says that all they posted is."""
    found = await statuses.find_all(work.db, list(dict.fromkeys(ids)))
    rows = [one for one in found.values() if one.local]
    if not rows:
        return
    reached = await recipients.of_deleted_posts(work.db, [row.id for row in rows])
    passing_on = await relays.enabled_inboxes(work.db)
    originals = await statuses.find_all(work.db, [row.reblog_of_id for row in rows if row.reblog_of_id is not None])
    wanted = {row.account_id for row in (*rows, *originals.values())}
    people = await accounts.find_all(work.db, list(wanted))
    for row in rows:
        inboxes = with_relays(row, reached.get(row.id, []), passing_on)
        author = people.get(row.account_id)
        if inboxes and author is not None and author.deleted_at is None:
            activity = _end(row, author, originals, people)
            if activity is not None:
                await deliver(work, activity=activity, sender=author.id, inboxes=inboxes)


def _end(
    row: Status, author: Account, originals: dict[StatusId, Status], people: dict[AccountId, Account]
) -> Doc | None:
    if row.reblog_of_id is None:
        return activities.delete_status(author.uri, row.uri)
    original = originals.get(row.reblog_of_id)
    writer = None if original is None else people.get(original.account_id)
    if original is None or writer is None:
        return None
    announced = activities.announce(author.uri, row.uri, original.uri, writer.uri, row.visibility, row.created_at)
    return activities.undo_announce(announced, row.id)


EDITED: JobKind[StatusEdited] = JobKind(
    name="federation_outgoing.edited", payload=StatusEdited, many=tell_of_edits, is_harmless=True
)
POLL_ENDED: JobKind[PollEnded] = JobKind(
    name="federation_outgoing.poll_ended", payload=PollEnded, many=tell_of_ends, is_harmless=True
)
TELL_VOTES: JobKind[TellVotes] = JobKind(
    name="federation_outgoing.votes", payload=TellVotes, many=tell_of_votes, is_harmless=True
)
DELETED: JobKind[StatusDeleted] = JobKind(
    name="federation_outgoing.deleted", payload=StatusDeleted, many=tell_of_deletions, is_harmless=True
)
WITHDRAWN: JobKind[BoostWithdrawn] = JobKind(
    name="federation_outgoing.withdrawn", payload=BoostWithdrawn, many=tell_of_withdrawals, is_harmless=True
)
KINDS = (EDITED, POLL_ENDED, TELL_VOTES, DELETED, WITHDRAWN)
