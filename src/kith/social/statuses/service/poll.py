"""Polls: what may be asked, and voting."""

from __future__ import annotations

import msgspec

from kith.base.db import Taken
from kith.base.errors import Complaint, Forbidden, Invalid, NotFound
from kith.base.params.loose import Loose
from kith.base.work import Work
from kith.social.ids import AccountId
from kith.social.relationships import store as relationships
from kith.social.statuses import polls, store
from kith.social.statuses.facts import PollEnded, PollVoted
from kith.social.statuses.remote_posts import RemotePosts, is_stale
from kith.social.statuses.tables import Poll
from kith.social.text.counting import graphemes

FEWEST, MOST = 2, 4
LONGEST = 50
SHORTEST_SECONDS, LONGEST_SECONDS = 300, 2_629_746


class PollDraft(Loose, kw_only=True):
    options: list[str] = msgspec.field(default_factory=list)
    expires_in: int = 0
    multiple: bool = False
    hide_totals: bool = False


def check_poll(draft: PollDraft, *, has_end: bool = False) -> None:
    """All that is wrong with it, at once. A poll that is edited has an end, which stays where the draft names none."""
    draft.options = [option.strip() for option in draft.options]
    draft.options = [option for option in draft.options if option]
    complaints: list[tuple[str, str]] = []
    if len(draft.options) < FEWEST:
        complaints.append(("options", "must have more than one item"))
    if len(draft.options) > MOST:
        complaints.append(("options", f"can't contain more than {MOST} items"))
    if any(graphemes(option) > LONGEST for option in draft.options):
        complaints.append(("options", f"cannot be longer than {LONGEST} characters each"))
    if len(set(draft.options)) < len(draft.options):
        complaints.append(("options", "contain duplicate items"))
    if draft.expires_in < SHORTEST_SECONDS and (draft.expires_in or not has_end):
        complaints.append(("expires_at", "is too soon"))
    if draft.expires_in > LONGEST_SECONDS:
        complaints.append(("expires_at", "is too far into the future"))
    if complaints:
        fields: dict[str, list[str]] = {}
        for name, words in complaints:
            fields.setdefault(_LABELS[name], []).append(Complaint(words))
        raise Invalid(fields=fields)


_LABELS = {"options": "choices", "expires_at": "deadline"}


async def find_poll(work: Work, poll_id: int, me: AccountId | None) -> Poll:
    """A poll, if its status may be seen."""
    found = (await polls.find_all(work.db, [poll_id])).get(poll_id)
    if found is None or await store.find_visible(work.db, found.status_id, me) is None:
        raise NotFound("Not Found")
    return found


async def read_poll(work: Work, poll_id: int, me: AccountId | None) -> Poll:
    """As its server tells it now, for members: strangers make us ask nobody."""
    found = await find_poll(work, poll_id, me)
    if me is not None and is_stale(work, found):
        await work.find(RemotePosts).refresh_poll(work, found)  # type: ignore[type-abstract]
        return await find_poll(work, poll_id, me)
    return found


async def vote(work: Work, me: AccountId, poll_id: int, choices: list[int]) -> Poll:
    """Every choice once, one choice where only one is asked for; all counted or none."""
    poll = await find_poll(work, poll_id, me)
    if await relationships.blocks_between(work.db, me, poll.account_id):
        raise Forbidden
    held = await polls.hold(work.db, poll.id)
    if held is None:
        raise NotFound("Not Found")
    wanted = list(dict.fromkeys(choices))
    before = (await polls.own_votes(work.db, me, [held.id])).get(held.id, [])
    _check_votes(work, held, me, wanted, before)
    given = {work.new_id(): choice for choice in wanted}
    rows = [
        {"id": id, "poll_id": held.id, "account_id": me, "choice": choice, "created_at": work.now}
        for id, choice in given.items()
    ]
    try:
        await polls.add_votes(work.db, rows)
    except Taken as error:
        raise _wrong("You have already voted on this poll") from error
    tallies = [count + (1 if place in wanted else 0) for place, count in enumerate(held.tallies)]
    voters = None if held.voters_count is None else held.voters_count + (0 if before else 1)
    await polls.tally(work.db, held.id, tallies, voters)
    work.announce(PollVoted(held.id, held.status_id, me, held.account_id, held.hide_totals, tuple(given)))
    held.tallies, held.voters_count = tallies, voters
    return held


def _check_votes(work: Work, poll: Poll, me: AccountId, wanted: list[int], before: list[int]) -> None:
    if poll.account_id == me:
        raise _wrong("You cannot vote in your own polls")
    if poll.expires_at is not None and poll.expires_at <= work.now:
        raise _wrong("The poll has already ended")
    if not wanted or any(not 0 <= choice < len(poll.options) for choice in wanted):
        raise _wrong("The chosen vote option does not exist")
    if (before and not poll.multiple) or any(choice in before for choice in wanted):
        raise _wrong("You have already voted on this poll")
    if not poll.multiple and len(wanted) > 1:
        raise _wrong("You have already voted on this poll")


def _wrong(words: str) -> Invalid:
    return Invalid(fields={"": [Complaint(words)]})


async def end_polls(work: Work) -> int:
    """Tell of the polls that have ended meanwhile; how many there were."""
    ended = [poll for poll in await polls.over(work.db, work.now) if await polls.end(work.db, poll.id, work.now)]
    for poll in ended:
        work.announce(PollEnded(poll_id=poll.id, status_id=poll.status_id))
    return len(ended)
