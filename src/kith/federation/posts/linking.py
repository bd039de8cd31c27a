"""Answers that came before what they answer: they become its answers in a job of its own, a few at a time.

Whoever sends a post may have sent any number of answers to it before, and whole threads below them. So nothing of it is
done with what else has come, no more is done at once than a stretch, and what stands above the post, which may be much
as well, is read once for all of its answers.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.posts import rows, store
from kith.federation.posts.arrived import CARRY
from kith.federation.posts.threads import answered
from kith.social.ids import StatusId
from kith.social.statuses import store as statuses
from kith.social.statuses.facts import StatusPosted
from kith.social.statuses.tables import PUBLIC, UNLISTED, Status

__all__ = ["LINK_ANSWERS", "await_answers", "link_later"]

STRETCH = 20  # answers
MOST_MOVED = 1000  # posts of a thread that turns out to be part of another; and of several, in one stretch
DEEPEST = 1000  # posts above one that gets answers


class LinkAnswers(msgspec.Struct):
    """Posts wait for `uri`, which is this post, or has turned out to be."""

    status_id: StatusId
    uri: str


async def await_answers(work: Work, parent: Status) -> None:
    """Of a post that is new here: those that came before it are its answers from now on."""
    if await store.waiting_for(work.db, parent.uri, 1):
        link_later(work, parent, parent.uri)


def link_later(work: Work, parent: Status, uri: str) -> None:
    work.enqueue(LINK_ANSWERS, LinkAnswers(parent.id, uri))


async def link_answers(work: Work, payload: LinkAnswers) -> None:
    """A stretch of them, which come home to whom they concern; the rest in another job."""
    await work.db.begin()
    found = await statuses.find(work.db, payload.status_id)
    children = await store.waiting_for(work.db, payload.uri, STRETCH)
    if found is None or not children:
        return
    held = await _hold(work, [found, *children])
    parent = await statuses.find(work.db, payload.status_id)
    children = await store.waiting_for(work.db, payload.uri, STRETCH)
    above = await _above(work, parent) if parent is not None else None
    moved = 0
    for child in children:
        if child.conversation_id not in held or moved >= MOST_MOVED:  # it has changed since: the next time
            break
        await store.change(work.db, child.id, parent=None)
        if parent is not None and above is not None and child.id not in above:
            moved += await _link(work, child, parent)
    if await store.waiting_for(work.db, payload.uri, 1):
        work.enqueue(LINK_ANSWERS, payload)


async def _hold(work: Work, posts: Sequence[Status]) -> set[int]:
    """Their threads, which nobody else joins meanwhile: in one order, or two would wait for each other."""
    held = {post.conversation_id for post in posts}
    for conversation in sorted(held):
        await work.db.hold(f"federation.threads {conversation}")
    return held


async def _above(work: Work, parent: Status) -> set[StatusId] | None:
    """The post and all that stand above it, none of which may answer it; None where there are too many to tell.

    Whoever writes both could make a thread without an end otherwise. What reaches through several threads may be about
    to reach further, by what somebody else does who holds other threads: these are linked one at a time.
    """
    if parent.deleted_at is not None:
        return None
    above = await store.above(work.db, parent.id, DEEPEST)
    if len(set(above.values())) > 1:
        await work.db.hold("federation.threads")
        above = await store.above(work.db, parent.id, DEEPEST)
    return None if len(above) > DEEPEST else set(above)


async def _link(work: Work, child: Status, parent: Status) -> int:
    """How many posts were moved to another thread."""
    to = answered(child.account_id, parent)
    await statuses.change(work.db, child.id, {"in_reply_to_id": parent.id, "in_reply_to_account_id": to})
    moved = await _join(work, child.conversation_id, parent)
    if child.visibility in (PUBLIC, UNLISTED):
        await statuses.count(work.db, parent.id, replies=1)
    if child.created_at > work.now - rows.FRESH:
        work.enqueue(CARRY, StatusPosted(status_id=child.id, account_id=child.account_id))
    return moved


async def _join(work: Work, old: int, parent: Status) -> int:
    """Make one thread of two: the shorter one goes to the longer one, so that no post is moved often.

    One that began here keeps its name, and of two that are long each keeps its own.
    """
    new = parent.conversation_id
    if old == new:
        return 0
    roots = await statuses.find_all(work.db, [StatusId(old), StatusId(new)])
    began_here = {id for id, root in roots.items() if root.local}
    lengths = {id: await store.length_of(work.db, id, MOST_MOVED + 1) for id in (old, new)}
    for moved, to in sorted([(old, new), (new, old)], key=lambda pair: lengths[pair[0]]):
        if moved not in began_here and lengths[moved] <= MOST_MOVED:
            await store.join_conversation(work.db, moved, to)
            if moved == new:
                parent.conversation_id = to
            return lengths[moved]
    return 0


# One at a time in its own transaction, in turns of those who have caused it.
LINK_ANSWERS: JobKind[LinkAnswers] = JobKind(
    name="federation_posts.link_answers",
    payload=LinkAnswers,
    handler=link_answers,
    outside=True,
    concurrency=2,
    is_harmless=True,
)
