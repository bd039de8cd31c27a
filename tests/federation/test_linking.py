"""Answers that came before what they answer are linked in stretches, however many they are and however deep the thread."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from kith.app import House
from kith.base.db import query
from kith.base.jobs.tables import jobs
from kith.federation.inbox.dispatch import dispatch
from kith.federation.known import Known
from kith.federation.posts import linking, store
from kith.federation.posts.linking import LINK_ANSWERS, STRETCH, LinkAnswers, link_answers
from kith.federation.vocabulary.incoming import read_activity
from kith.social.accounts.tables import Account
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import Status
from tests.conftest import TownBuilder
from tests.federation.receiving import AS, create, follow, note_of, somebody
from tests.social.members import join
from tests.town import Town

_waiting = query(select(jobs.c.payload).where(jobs.c.kind == LINK_ANSWERS.name), str)


class _Recording:
    """A session that knows what it was asked for and what it holds."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.asked: list[object] = []
        self.held: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def all(self, query: Any, /, **params: Any) -> Any:
        self.asked.append(query)
        return await self._session.all(query, **params)

    async def hold(self, subject: str) -> None:
        self.held.append(subject)
        await self._session.hold(subject)


async def _followed(town: Town) -> Account:
    author = await somebody(town)
    await follow(await join(town), author)
    return author


async def _comes(house: House, author: Account, name: str, answers: str | None = None) -> Status:
    more = {} if answers is None else {"inReplyTo": f"{author.uri}/statuses/{answers}"}
    note = note_of(author, name, **more)
    async with house.works.begin() as work:
        await dispatch(work, Known(()), author, read_activity({"@context": AS} | create(author, note)))
        found = await statuses.find_by_uri(work.db, note["id"])
    assert found is not None
    return found


async def _answers_of(house: House, parent: Status) -> int:
    async with house.works.begin() as work:
        found = await statuses.find(work.db, parent.id)
    assert found is not None
    return found.replies_count


async def _link(house: House, parent: Status) -> _Recording:
    async with house.works.begin() as work:
        work.db = recording = _Recording(work.db)
        await link_answers(work, LinkAnswers(parent.id, parent.uri))
    return recording


async def test_what_stands_above_is_read_once_for_all_that_are_linked_together(new_town: TownBuilder) -> None:
    town = await new_town(worker="off")
    author = await _followed(town)
    async with town.house() as house:
        for number in range(5):
            await _comes(house, author, f"c{number}", f"c{number - 1}" if number else None)
        for number in range(STRETCH + 5):
            await _comes(house, author, f"k{number}", "x")

        parent = await _comes(house, author, "x", "c4")
        assert await _answers_of(house, parent) == 0, "nothing of it is done with what else has come"
        async with house.works.begin() as work:
            assert len(await work.db.all(_waiting)) == 1

        first = await _link(house, parent)
        linked = await _answers_of(house, parent)
        await _link(house, parent)

        assert (linked, await _answers_of(house, parent)) == (STRETCH, STRETCH + 5)
    assert first.asked.count(store._above) == 1
    numbers = [int(subject.split()[1]) for subject in first.held]
    assert numbers == sorted(numbers), "in one order, or two would wait for each other"
    assert len(numbers) == STRETCH + 1


async def test_in_a_stretch_no_more_posts_are_moved_than_a_thread_may_have(
    new_town: TownBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linking, "MOST_MOVED", 3)
    town = await new_town(worker="off")
    author = await _followed(town)
    async with town.house() as house:
        for number in range(6):
            await _comes(house, author, f"root{number}", "x")
            await _comes(house, author, f"leaf{number}", f"root{number}")
        parent = await _comes(house, author, "x")

        await _link(house, parent)

        assert await _answers_of(house, parent) in (2, 3)
        async with house.works.begin() as work:
            assert len(await work.db.all(_waiting)) == 2


async def test_a_thread_that_is_too_deep_to_tell_gets_no_more(
    new_town: TownBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linking, "DEEPEST", 3)
    town = await new_town(worker="off")
    author = await _followed(town)
    async with town.house() as house:
        for number in range(6):
            await _comes(house, author, f"c{number}", f"c{number - 1}" if number else None)
        await _comes(house, author, "k", "x")
        parent = await _comes(house, author, "x", "c5")

        recording = await _link(house, parent)

        assert await _answers_of(house, parent) == 0
        async with house.works.begin() as work:
            assert await store.waiting_for(work.db, parent.uri, 1) == []
            assert len(await store.above(work.db, parent.id, 3)) == 4
    assert recording.asked.count(store._above) == 1
