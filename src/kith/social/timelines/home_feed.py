"""Home feeds come and go: kept for those who are here, dropped for those who are long gone, built anew on return."""

from __future__ import annotations

from datetime import timedelta

from kith.base.clocks import is_recent
from kith.base.work import Work
from kith.social.feeds import store as feeds
from kith.social.feeds.tables import FeedState
from kith.social.ids import AccountId
from kith.social.relationships import store as relationships
from kith.social.timelines.filling import BUILD, Build

NOTED_EVERY = timedelta(days=1)
ASKED_EVERY = timedelta(minutes=10)
GIVEN_UP_AFTER = timedelta(days=1)


async def is_ready(work: Work, me: AccountId) -> bool:
    """Whether one's home is whole. The first look, and the first after long, has it built by a worker.

    Where that cannot be asked for now, the next look asks.
    """
    state = await feeds.find_state(work.db, me)
    if state is None:
        return await _begin(work, me)
    if state.state == feeds.BUILDING:
        return await _wait(work, state)
    if not is_recent(state.active_at, work.now, NOTED_EVERY):
        async with work.noting() as aside:
            await feeds.note_presence(aside.db, me, aside.now)
    return True


async def _begin(work: Work, me: AccountId) -> bool:
    """Whoever follows nobody has nothing to wait for."""
    followed = await relationships.count_following(work.db, me)
    async with work.noting() as aside:
        await feeds.set_state(aside.db, me, feeds.BUILDING if followed else feeds.READY, aside.now)
        aside.enqueue(BUILD, Build(account_id=me), key=str(me))
    return not followed


async def _wait(work: Work, state: FeedState) -> bool:
    """Whoever builds it may have failed: it is asked for again now and then, and not waited for after a day."""
    me = state.account_id
    is_late = not is_recent(
        state.active_at, work.now, GIVEN_UP_AFTER
    )  # since it was begun: nobody is noted while it is built
    if is_late or not is_recent(state.changed_at, work.now, ASKED_EVERY):
        async with work.noting() as aside:
            if is_late:
                await feeds.set_state(aside.db, me, feeds.READY, aside.now)
            else:
                await feeds.note_asking(aside.db, me, aside.now)
            aside.enqueue(BUILD, Build(account_id=me), key=str(me))
    return is_late
