"""For every permission, somebody who has just that one tries every write of the API with everything it can name.

Nobody may have a right, a session, a proven address or an entry afterwards that they did not have, unless the
permission's own description says so. New collections are searched by themselves, since everything that is tried comes
from their declarations. Whole with KITH_TEST_SEARCH=whole.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import AsyncIterator

import pytest

from kith.identity.collections import RESOURCES
from tests.conftest import TownBuilder
from tests.identity.ladders.scenery import Scenery, build_scenery
from tests.identity.ladders.search import Search
from tests.identity.ladders.tries import write_permissions
from tests.search_size import is_whole_search

SEED = 24
SINGLE, PAIRS = (None, 150) if is_whole_search() else (6, 3)
# What led to more once is tried in every run.
KNOWN = (
    "crypto.change_certificatekeypair",
    "sources.change_scimsource",
    "sources.add_scimsource",
    "stages.add_invitation",
)
AREAS = sorted({one.area for one in RESOURCES})


@pytest.fixture
async def place(new_town: TownBuilder, engine: str) -> AsyncIterator[Scenery]:
    if engine != "sqlite" and not is_whole_search():
        pytest.skip("what is refused is the same for both databases: the whole search asks both")
    town = await new_town(confirm_email="off", rate_limits="off")
    async with town.house() as house:
        yield await build_scenery(town, house)


def tell(search: Search, what: str, begun: float) -> None:
    found = search.found
    answers = ", ".join(f"{status}: {count}" for status, count in sorted(found.answers.items()))
    print(f"{what}: {found.tries} tries ({answers}), {found.uses} uses, {time.monotonic() - begun:.0f} s")
    assert not found.ladders, "\n".join(found.ladders)


async def test_no_single_permission_leads_to_more(place: Scenery) -> None:
    search, begun = Search(place, SEED), time.monotonic()
    everything = write_permissions()
    rest = [one for one in everything if one not in KNOWN]
    some = rest if SINGLE is None else random.Random(SEED).sample(rest, SINGLE)

    for number, permission in enumerate((*KNOWN, *some)):
        await search.climb(permission, probes=number == 0 or is_whole_search())

    tell(search, f"{len(KNOWN) + len(some)} of {len(everything)} permissions", begun)


async def test_no_two_permissions_of_an_area_lead_to_more(place: Scenery) -> None:
    search, begun = Search(place, SEED + 1), time.monotonic()
    areas = {area: [one for one in write_permissions() if one.startswith(f"{area}.")] for area in AREAS}
    pairs = [pair for some in areas.values() for pair in itertools.combinations(some, 2)]

    for pair in random.Random(SEED).sample(pairs, PAIRS):
        await search.climb(*pair, probes=False)

    tell(search, f"{PAIRS} of {len(pairs)} pairs", begun)


@pytest.mark.parametrize("area", AREAS if is_whole_search() else ["crypto"])
async def test_not_even_all_permissions_of_an_area_lead_to_more(place: Scenery, area: str) -> None:
    """Whoever has them all has every two of them."""
    search, begun = Search(place, SEED + 2), time.monotonic()

    await search.climb(*(one for one in write_permissions() if one.startswith(f"{area}.")), probes=False)

    tell(search, f"all of {area}", begun)
