"""The community that the benchmark measures with can be made: its rows have all that the tables want."""

from __future__ import annotations

from bench.community import Size, seed
from tests.town import Town

SMALL = Size(members=5, follows=6, statuses=30)


async def test_the_community_of_the_benchmark_reads_its_homes(town: Town) -> None:
    async with town.house() as house:
        community = await seed(house, SMALL)

    member = community.members[0]
    answer = await town.http.get("/api/v1/timelines/home", headers={"Authorization": f"Bearer {member.token}"})

    assert (answer.status_code, len(community.members)) == (200, SMALL.members)
    assert answer.json()
