"""Kith and Fedify, a server that shares no line with it, find, follow, read and like each other.

Fedify asks WebFinger by https alone, so it is told addresses instead of handles.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.conftest import TownBuilder
from tests.federation.fedify_neighbour import FedifyNeighbour, fedify_neighbour
from tests.social.members import join
from tests.social.posts import post
from tests.town import Town


@pytest.fixture
async def fay() -> AsyncIterator[FedifyNeighbour]:
    async with fedify_neighbour() as one:
        yield one


@pytest.fixture
async def here(new_town: TownBuilder) -> Town:
    return await new_town(private_hosts="127.0.0.1")


async def test_fedify_understands_who_and_what_is_here(here: Town, fay: FedifyNeighbour) -> None:
    ada = await join(here)
    status = await post(ada, status="Hello #bread, from <Kith> & friends")

    actor = await fay.order("lookup", what=ada.me["uri"])
    note = await fay.order("lookup", what=status["uri"])

    assert (actor["type"], actor["id"]) == ("Person", ada.me["uri"])
    assert actor["json"]["preferredUsername"] == ada.name
    assert (note["type"], note["id"]) == ("Note", status["uri"])
    assert "Hello" in note["json"]["content"]
