"""Bringing into feeds what belongs there since somebody has changed what they want to read.

That may be as much as somebody has ever collected: a list's switch concerns everybody on it, who may be thousands. So
it is done a stretch at a time, each a job of its own, in lanes where whoever has asked for less is served between two
of them, and not among the jobs that carry new posts to their readers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from datetime import timedelta

import msgspec

from kith.base.breath import Breath
from kith.base.ids import id_at
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.feeds import store as feeds
from kith.social.ids import AccountId
from kith.social.lists import store as lists
from kith.social.timelines import feed_rules

__all__ = [
    "BRING_HOME",
    "BRING_TO_LIST",
    "BUILD",
    "BUILT",
    "FILL_LIST",
    "MERGED",
    "Build",
    "aggregate",
    "bring_home_later",
    "bring_to_list_later",
    "fill_list_later",
]

MERGED = 200
BUILT = 800
BUILT_DAYS = 90
BUILT_TAGS, BUILT_BY_TAG = 200, 100
STRETCH = 50  # authors


class Build(msgspec.Struct):
    """A home anew, then the lists one by one: those behind `after_list`, once the home is done."""

    account_id: AccountId
    after_list: int | None = None


class BringHome(msgspec.Struct):
    account_id: AccountId
    author_ids: list[AccountId]


class BringToList(msgspec.Struct):
    account_id: AccountId
    list_id: int
    author_ids: list[AccountId]


class FillList(msgspec.Struct):
    account_id: AccountId
    list_id: int


def bring_home_later(work: Work, me: AccountId, author_ids: Sequence[AccountId]) -> None:
    """What the rules allow, of people whom something may have kept away."""
    for start in range(0, len(author_ids), STRETCH):
        some = list(author_ids[start : start + STRETCH])
        work.enqueue(BRING_HOME, BringHome(account_id=me, author_ids=some), owner=_owner(me))


def bring_to_list_later(work: Work, me: AccountId, list_id: int, author_ids: Sequence[AccountId]) -> None:
    for start in range(0, len(author_ids), STRETCH):
        some = list(author_ids[start : start + STRETCH])
        work.enqueue(BRING_TO_LIST, BringToList(account_id=me, list_id=list_id, author_ids=some), owner=_owner(me))


def fill_list_later(work: Work, me: AccountId, list_id: int) -> None:
    """However often it is asked for, it waits once."""
    work.enqueue(FILL_LIST, FillList(account_id=me, list_id=list_id), key=str(list_id), owner=_owner(me))


def _owner(me: AccountId) -> str:
    return f"account:{me}"


async def bring_home(work: Work, payload: BringHome) -> None:
    me = payload.account_id
    if await feeds.find_state(work.db, me) is None:
        return
    await _hold(work, me)
    for author_id in payload.author_ids:
        await work.db.run(feed_rules.merge_into_home, owner=me, author=author_id, most=MERGED, now=work.now)
    await aggregate(work, me)
    await feeds.trim(work.db, [me])


async def bring_to_list(work: Work, payload: BringToList) -> None:
    """The rules leave out whoever is not on it any more."""
    if await feeds.find_state(work.db, payload.account_id) is None:
        return
    await _hold(work, payload.account_id)
    for author_id in payload.author_ids:
        await work.db.run(
            feed_rules.merge_into_list, owner=payload.list_id, author=author_id, most=MERGED, now=work.now
        )
    await feeds.trim(work.db, [payload.list_id])


async def fill_list(work: Work, payload: FillList) -> None:
    found = await lists.find(work.db, payload.account_id, payload.list_id)
    if found is None or await feeds.find_state(work.db, payload.account_id) is None:
        return
    await _fill_list(work, payload.account_id, found.id)


async def _fill_list(work: Work, me: AccountId, list_id: int) -> None:
    newest = await work.db.slow(feed_rules.newest_for_list, owner=list_id, most=BUILT, now=work.now)
    await _hold(work, me)
    await feeds.clear(work.db, list_id)
    await work.db.run(feed_rules.build_list, owner=list_id, statuses=newest, now=work.now)
    await feeds.trim(work.db, [list_id])


async def build(work: Work, payload: Build) -> None:
    """A home anew, from whom and which tags one follows and what was said oneself; then every list."""
    me, done = payload.account_id, payload.after_list
    of_me = sorted(await work.db.all(feed_rules.lists_of, owner=me))
    left = [id for id in of_me if done is None or id > done]
    if done is None:
        await _build_home(work, me)
        done = 0
    elif left:
        done = left.pop(0)
        await _fill_list(work, me, done)
    if left:
        work.enqueue(BUILD, Build(account_id=me, after_list=done), key=f"{me}:lists", owner=_owner(me))
    else:
        await feeds.become_ready(work.db, me, work.now)


async def _build_home(work: Work, me: AccountId) -> None:
    since = id_at(work.now - timedelta(days=BUILT_DAYS))
    newest = await work.db.slow(feed_rules.newest_for_home, owner=me, since=since, most=BUILT, now=work.now)
    await _hold(work, me)
    await feeds.clear(work.db, me)
    await work.db.run(feed_rules.add_own, owner=me, most=BUILT)
    await work.db.run(feed_rules.build_home, owner=me, statuses=newest, now=work.now)
    await _add_tagged(work, me, since)
    await aggregate(work, me)
    await feeds.trim(work.db, [me])


async def _add_tagged(work: Work, me: AccountId, since: int) -> None:
    """What was said under each followed tag since it was followed."""
    breath = Breath()
    for tag_id, followed_at in await work.db.all(feed_rules.followed_tags, owner=me, most=BUILT_TAGS):
        begin = max(since, id_at(followed_at))
        await work.db.run(
            feed_rules.build_home_by_tag, owner=me, tag=tag_id, since=begin, most=BUILT_BY_TAG, now=work.now
        )
        await breath.take()


async def aggregate(work: Work, me: AccountId) -> None:
    """As if everything had come home when it was said: others' boosts of what stood among the newest then go."""
    newest: deque[int] = deque(maxlen=feed_rules.AGGREGATED)
    again = []
    for status_id, original_id, author_id in reversed(await feeds.newest(work.db, me, 2 * BUILT)):
        if status_id != original_id and author_id != me and original_id in newest:
            again.append(status_id)
        else:
            newest.append(original_id)
    await feeds.drop_these(work.db, me, again)


async def _hold(work: Work, me: AccountId) -> None:
    """One at a time for each reader: two that bring the same posts would wait for each other."""
    await work.db.hold(f"filling:{me}")


BUILD: JobKind[Build] = JobKind(
    name="timelines.build", payload=Build, handler=build, outside=True, concurrency=2, is_harmless=True
)
BRING_HOME: JobKind[BringHome] = JobKind(
    name="timelines.bring_home", payload=BringHome, handler=bring_home, outside=True, concurrency=1, is_harmless=True
)
BRING_TO_LIST: JobKind[BringToList] = JobKind(
    name="timelines.bring_to_list",
    payload=BringToList,
    handler=bring_to_list,
    outside=True,
    concurrency=1,
    is_harmless=True,
)
FILL_LIST: JobKind[FillList] = JobKind(
    name="timelines.fill_list", payload=FillList, handler=fill_list, outside=True, concurrency=1, is_harmless=True
)
