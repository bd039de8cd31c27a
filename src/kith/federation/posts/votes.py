"""Votes of people elsewhere in polls of people here. They are counted, and never kept as posts."""

from __future__ import annotations

from kith.base.work import Work
from kith.federation.known import Known
from kith.federation.vocabulary.incoming import IncomingNote
from kith.federation.vocabulary.incoming.activities.shapes import IncomingVotes
from kith.social.accounts.tables import Account
from kith.social.relationships import store as relationships
from kith.social.statuses import polls
from kith.social.statuses import store as statuses
from kith.social.statuses.facts import PollVoted
from kith.social.statuses.tables import Poll

__all__ = ["apply_votes", "choose", "is_choice"]


async def apply_votes(work: Work, _known: Known, sender: Account, activity: IncomingVotes) -> None:
    by_question: dict[str, list[str]] = {}
    for vote in activity.votes:
        by_question.setdefault(vote.question, []).append(vote.name)
    for question, names in by_question.items():
        await _vote(work, sender, question, names)


async def is_choice(work: Work, note: IncomingNote) -> bool:
    """Whether a post names what can be chosen in a poll of somebody here, whatever else it says, as snac's votes do."""
    if note.type != "Note" or not note.content.title or note.in_reply_to is None:
        return False
    status = await statuses.find_by_uri(work.db, note.in_reply_to)
    if status is None or not status.local or status.poll_id is None:
        return False
    found = (await polls.find_all(work.db, [status.poll_id])).get(status.poll_id)
    return found is not None and note.content.title in found.options


async def choose(work: Work, sender: Account, note: IncomingNote) -> None:
    if note.in_reply_to is not None:
        await _vote(work, sender, note.in_reply_to, [note.content.title])


async def _vote(work: Work, voter: Account, question: str, names: list[str]) -> None:
    """What cannot be counted is left out without a word: whoever sent it knows the poll."""
    status = await statuses.find_by_uri(work.db, question)
    if status is None or not status.local or status.poll_id is None or voter.is_gone:
        return
    if await statuses.find_visible(work.db, status.id, voter.id) is None:
        return
    if await relationships.blocks_between(work.db, voter.id, status.account_id):
        return
    held = await polls.hold(work.db, status.poll_id)
    if held is None or (held.expires_at is not None and held.expires_at <= work.now):
        return
    before = (await polls.own_votes(work.db, voter.id, [held.id])).get(held.id, [])
    choices = _choices(held, names, before)
    if not choices:
        return
    rows = [
        {"id": work.new_id(), "poll_id": held.id, "account_id": voter.id, "choice": choice, "created_at": work.now}
        for choice in choices
    ]
    await polls.add_votes(work.db, rows)
    tallies = [count + (1 if place in choices else 0) for place, count in enumerate(held.tallies)]
    voters = None if held.voters_count is None else held.voters_count + (0 if before else 1)
    await polls.tally(work.db, held.id, tallies, voters)
    work.announce(PollVoted(held.id, held.status_id, voter.id, held.account_id, held.hide_totals))


def _choices(poll: Poll, names: list[str], before: list[int]) -> list[int]:
    """The places of what was chosen, each once, and one in all where only one is asked for."""
    places = {name: place for place, name in reversed(list(enumerate(poll.options)))}
    found = list(dict.fromkeys(places[name] for name in names if name in places and places[name] not in before))
    if poll.multiple:
        return found
    return [] if before else found[:1]
