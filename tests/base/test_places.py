"""Places: nobody has more than their share, nobody who could go waits, and a newcomer goes before a crowd."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import suppress

import pytest

from kith.base.places import Full, Places, TakenPlace, is_full, take_figures
from tests.search_size import is_whole_search

MOST, EACH, STRANGERS = 6, {"host": 2, "caller": 3}, 4
SEEDS = 2000 if is_whole_search() else 60
STEPS = 120


class _Crowd:
    """Hosts and callers who come, wait, go and give up as chance has it."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.places = Places("tried", most=MOST, each=EACH, strangers=STRANGERS)
        self.inside: dict[int, tuple[TakenPlace, tuple[str, str | None, bool]]] = {}
        self.waiting: dict[int, tuple[asyncio.Task[None], tuple[str, str | None, bool]]] = {}

    async def step(self, number: int) -> None:
        kind = self.chance.choice(("come", "come", "come", "go", "go", "give up"))
        if kind == "come":
            who = (
                f"h{self.chance.randrange(4)}",
                self.chance.choice((None, "a", "b", "c")),
                self.chance.random() < 0.5,
            )
            self.waiting[number] = asyncio.create_task(self._come(number, who)), who
        elif kind == "go" and self.inside:
            self.inside.pop(self.chance.choice(sorted(self.inside)))[0].give_back()
        elif kind == "give up" and self.waiting:
            task, _ = self.waiting.pop(self.chance.choice(sorted(self.waiting)))
            task.cancel()
        if self.chance.random() < 0.7:  # else several things happen in the same moment
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    async def _come(self, number: int, who: tuple[str, str | None, bool]) -> None:
        host, caller, is_stranger = who
        with suppress(Full):
            place = await self.places.enter(seconds=3600, is_stranger=is_stranger, host=host, caller=caller)
            self.inside[number] = place, who
        self.waiting.pop(number, None)

    async def settle(self) -> None:
        for _ in range(4):
            await asyncio.sleep(0)

    def check(self) -> None:
        taken = [who for _, who in self.inside.values()]
        hosts, callers = Counter(who[0] for who in taken), Counter(who[1] for who in taken if who[1])
        strangers = sum(who[2] for who in taken)
        assert len(taken) == self.places.taken <= MOST
        assert max(hosts.values(), default=0) <= EACH["host"]
        assert max(callers.values(), default=0) <= EACH["caller"]
        assert strangers <= STRANGERS
        for _, (host, caller, is_stranger) in self.waiting.values():
            could_go = len(taken) < MOST and hosts[host] < EACH["host"] and callers[caller or ""] < EACH["caller"]
            assert not (could_go and (not is_stranger or strangers < STRANGERS)), "somebody waits who could go"


async def test_whatever_happens_nobody_has_more_than_a_share_and_nobody_waits_in_vain() -> None:
    for seed in range(SEEDS):
        crowd = _Crowd(seed)
        for number in range(STEPS):
            await crowd.step(number)
            if number % 10 == 0:
                await crowd.settle()
                crowd.check()
        while crowd.inside or crowd.waiting:
            for number in sorted(crowd.inside):
                crowd.inside.pop(number)[0].give_back()
            await crowd.settle()
            crowd.check()
        assert (crowd.places.taken, crowd.places.waiting) == (0, 0), f"seed {seed}"


async def test_who_has_the_fewest_goes_first() -> None:
    """Sixty of one caller wait; the one of another does not wait for them."""
    places = Places("tried", most=4, each={"caller": 4})
    order: list[str] = []
    held = [await places.enter(caller="crowd") for _ in range(4)]

    async def come(caller: str) -> None:
        async with places.take(seconds=60, caller=caller):
            order.append(caller)
            await asyncio.sleep(0)

    comers = [asyncio.create_task(come("crowd")) for _ in range(60)]
    await asyncio.sleep(0)
    comers.append(asyncio.create_task(come("newcomer")))
    await asyncio.sleep(0)
    for place in held:
        place.give_back()
    await asyncio.gather(*comers)

    assert order[0] == "newcomer"


async def test_with_one_place_the_callers_take_turns() -> None:
    places = Places("tried", most=1, each={"caller": 1})
    order: list[str] = []

    async def come(caller: str) -> None:
        async with places.take(seconds=60, caller=caller):
            order.append(caller)
            await asyncio.sleep(0)

    await asyncio.gather(*(come(caller) for caller in "aaaaaaaabbbb"))

    assert "".join(order[:9]) in ("aabababab", "abababab" + order[8])


async def test_one_owner_cannot_fill_the_line_either() -> None:
    places = Places("tried", most=2, each={"host": 1})
    held = await places.enter(host="slow")
    waiting = [asyncio.create_task(places.enter(seconds=60, host="slow")) for _ in range(16)]
    await asyncio.sleep(0)

    with pytest.raises(Full):
        await places.enter(seconds=60, host="slow")
    (await places.enter(seconds=0, host="other")).give_back()

    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    held.give_back()
    held.give_back()  # which changes nothing
    assert (places.taken, places.waiting) == (0, 0)


async def test_who_waits_in_vain_is_told_and_counted() -> None:
    places = Places("counted_here", most=1)
    async with places.take():
        with pytest.raises(Full) as caught:
            await places.enter(seconds=0.01)
        waiting = asyncio.create_task(places.enter(seconds=60))
        await asyncio.sleep(0)
        assert take_figures()["counted_here"] == (1, 1, 1)
        assert take_figures()["counted_here"] == (1, 1, 0)
    (await waiting).give_back()
    other = ValueError("said in other words")
    other.__cause__ = caught.value
    assert is_full(other)
    assert not is_full(ValueError())
