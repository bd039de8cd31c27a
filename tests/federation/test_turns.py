"""What one server sends keeps no other waiting: the inbox is emptied in turns."""

from __future__ import annotations

from datetime import UTC, datetime

from kith.federation.inbox import store
from kith.federation.inbox.intake import InboxTurns, Intake
from kith.federation.inbox.tables import NOBODY, WAITING, Received
from tests.conftest import TownBuilder


def test_who_sends_little_comes_before_who_has_sent_much() -> None:
    turns = InboxTurns()

    flood = [turns.next("loud.example") for _ in range(1000)]
    quiet = [turns.next("quiet.example") for _ in range(3)]

    assert flood == sorted(set(flood)), "what one sends stays in its order"
    assert quiet[-1] < flood[10]


async def test_the_first_of_one_is_taken_before_the_hundredth_of_another(new_town: TownBuilder) -> None:
    town = await new_town(worker="off")
    async with town.house() as house:
        intake = Intake(house.works)

        async def comes(host: str, name: str) -> None:
            now = datetime.now(UTC)
            row = Received(house.ids.new(), NOBODY, f"https://{host}/{name}", NOBODY, "{}", None, WAITING, now, now)
            await intake.keep(row, host)

        for number in range(100):
            await comes("a.loud.example" if number % 2 else "b.loud.example", str(number))
        await comes("quiet.example", "hello")

        async with house.works.begin() as work:
            taken = [one.activity_id for one in (await store.take(work.db, 20, 10_000))[0]]
    assert "https://quiet.example/hello" in taken
    assert [one for one in taken if one and "loud" in one] == [
        f"https://{'a' if number % 2 else 'b'}.loud.example/{number}" for number in range(19)
    ]
