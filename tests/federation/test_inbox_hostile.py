"""A neighbour who means harm: whatever it sends is refused or comes to nothing, and nobody else waits for it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from tests.federation.hostile import EVIL, FORGED, RAW, mutants
from tests.federation.inbox_street import Street, street
from tests.federation.neighbour import RemotePerson
from tests.federation.neighbours.mastodon import A, B
from tests.social.members import Member, join
from tests.social.posts import post
from tests.town.town import Engine

SOME = 200
AT_ONCE = 8


@pytest.fixture(scope="module")
async def lane(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Street]:
    async with street(engine, tmp_path_factory.mktemp("lane")) as made:
        yield made


def as_of(document: Any, mallory: RemotePerson, bob: Member, evil: RemotePerson) -> bytes:
    """The same, about people who are there."""
    text = msgspec.json.encode(document).decode()
    for name, uri in ((A, mallory.uri), (B, bob.me["uri"]), (EVIL, evil.uri)):
        text = text.replace(name, uri).replace(name.partition("/users/")[0] + "/", uri.partition("/users/")[0] + "/")
    return text.encode()


async def _send_all(lane: Street, mallory: RemotePerson, bodies: list[bytes]) -> list[int]:
    left, statuses = iter(bodies), list[int]()

    async def send() -> None:
        statuses.extend([(await lane.says(mallory, body)).status_code for body in left])

    await asyncio.gather(*(send() for _ in range(AT_ONCE)))
    return statuses


async def test_whatever_is_sent_nothing_breaks(lane: Street) -> None:
    bob, mallory, evil = await join(lane.here), lane.there.person("mallory"), lane.away.person("evil")
    said = await post(bob)
    activities = [document for kind, document in mutants() if kind == "activity"]
    some = random.Random(7).sample(activities, SOME)
    some += [one.document for one in FORGED.values() if one.kind == "activity"]

    answers = await _send_all(lane, mallory, [as_of(one, mallory, bob, evil) for one in some])
    raw = await _send_all(lane, mallory, [body for body, _ in RAW.values()])

    assert set(answers) <= {202, 400}
    assert set(raw) <= {202, 400, 413}
    await lane.settled()
    ada = lane.there.person("ada", key=2)
    await lane.sends(ada, ada.activity("Like", said["uri"]))
    assert (await bob.get(f"/api/v1/statuses/{said['id']}"))["favourites_count"] >= 1
