"""Three servers and two workers over one PostgreSQL are one server to everybody outside.

What is promised of one process is promised of five: any test can be run against such a town with
`KITH_TEST_NODES=3+2 scripts/test tests/...`. Here is what only several processes can break.
"""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import httpx
import pytest
from sqlalchemy import bindparam, func, select, update

from kith.base.db import Instant, command, connect, query
from kith.base.ids import id_slots
from kith.base.jobs.tables import jobs, schedules, workers
from kith.base.settings import load
from tests.social.members import Member, app_of, join, until
from tests.social.posts import arrive, settle
from tests.social.samples import image_file
from tests.social.streams import listen, open_socket
from tests.town import build_town
from tests.town.plain import PLAIN
from tests.town.several import SeveralTown

_all_due = command(update(schedules).values(next_at=bindparam("now", type_=Instant())))
_still_due = query(
    select(func.count()).select_from(schedules).where(schedules.c.next_at < bindparam("now", type_=Instant())), int
)
_twice = query(select(jobs.c.kind).where(jobs.c.key == "periodic").group_by(jobs.c.kind).having(func.count() > 1), str)
_alive = query(
    select(func.count()).select_from(workers).where(workers.c.seen_at > bindparam("since", type_=Instant())), int
)
_slots = query(select(func.count()).select_from(id_slots), int)


@pytest.fixture(scope="module")
async def several(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SeveralTown]:
    async with build_town("postgresql", tmp_path_factory.mktemp("several"), kind=SeveralTown) as town:
        yield cast("SeveralTown", town)


async def at(town: SeveralTown, number: int, member: Member, method: str, path: str, **more: object) -> httpx.Response:
    """Ask one of the servers, past the balancer."""
    headers = {"Authorization": f"Bearer {member.token}", **cast("dict[str, str]", more.pop("headers", {}))}
    async with httpx.AsyncClient(base_url=town.address(number), timeout=60, verify=PLAIN) as http:
        return await http.request(method, path, headers=headers, **more)  # type: ignore[arg-type]


async def test_what_is_posted_at_one_server_is_heard_and_read_at_the_others(several: SeveralTown) -> None:
    ada, bob = await join(several), await join(several)
    await bob.to(ada, "follow")
    await arrive(ada, bob)

    async with (
        listen(bob, "user", base_url=several.address(1)) as stream,
        open_socket(bob, "user", base_url=several.address(2)) as socket,
    ):
        made = await at(several, 0, ada, "POST", "/api/v1/statuses", json={"status": f"hello @{bob.name}"})
        id = made.json()["id"]
        heard = await stream.until("update", id), await socket.until("update", id)

    await settle(several)
    assert [[name for name, of in one if of == id] for one in heard] == [["update"], ["update"]]
    for number in range(3):
        home = await at(several, number, bob, "GET", "/api/v1/timelines/home")
        told = await at(several, number, bob, "GET", "/api/v1/notifications?types[]=mention")
        assert home.json()[0]["id"] == id
        assert [one["status"]["id"] for one in told.json()] == [id]


async def take_back(town: SeveralTown, member: Member) -> None:
    app = app_of(town)
    sent = {"token": member.token, "client_id": app.client_id, "client_secret": app.secret}
    assert (await at(town, 0, member, "POST", "/oauth/revoke", data=sent)).status_code == 200


async def test_a_token_that_is_taken_back_at_one_opens_nothing_at_the_others(several: SeveralTown) -> None:
    ada = await join(several)
    async with listen(ada, "user", base_url=several.address(2)) as stream:
        # 206 while the home is being built.
        assert (await at(several, 1, ada, "GET", "/api/v1/timelines/home")).status_code in (200, 206)

        await take_back(several, ada)

        answers = [await at(several, number, ada, "GET", "/api/v1/timelines/home") for number in range(3)]
        assert [one.status_code for one in answers] == [401] * 3
        with pytest.raises((EOFError, StopAsyncIteration, httpx.HTTPError, AssertionError)):
            while True:
                await stream.line()


async def test_one_key_means_one_post_whichever_server_is_asked(several: SeveralTown) -> None:
    ada = await join(several)
    key = {"Idempotency-Key": "the same"}

    made = await asyncio.gather(
        *(
            at(several, number % 3, ada, "POST", "/api/v1/statuses", json={"status": "once"}, headers=key)
            for number in range(9)
        )
    )

    assert {one.json()["id"] for one in made if one.status_code == 200} != set()
    assert len(await ada.get(f"/api/v1/accounts/{ada.id}/statuses")) == 1


async def test_guesses_are_counted_together(tmp_path: Path) -> None:
    async with build_town("postgresql", tmp_path, kind=SeveralTown, rate_limits="on") as town:
        several = cast("SeveralTown", town)
        ada = await several.sign_up()
        answers = []
        for turn in range(40):
            async with httpx.AsyncClient(base_url=several.address(turn % 3), verify=PLAIN) as http:
                answers.append(await http.get("/api/v2/core/users/", auth=(ada.username, f"guess {turn}")))
        codes = Counter(one.status_code for one in answers)
        asked = [0, 0, 0]
        member_answers = []
        async with httpx.AsyncClient(timeout=60, verify=PLAIN) as http:
            for turn in range(330):
                number = turn % 3
                asked[number] += 1
                member_answers.append(await http.get(f"{several.address(number)}/api/v1/instance/rules"))

    assert codes[429] > 0
    assert codes[401] < 20  # three servers give nobody three times the guesses
    # An ordinary limit (300) is counted in memory and added up every second.
    assert min(int(one.headers.get("x-ratelimit-remaining", "0")) for one in member_answers) < 300 - max(asked)


async def test_uploads_are_there_at_every_server(several: SeveralTown) -> None:
    ada = await join(several)
    files = {"file": ("a.png", image_file("PNG"), "image/png")}
    sent = (await at(several, 0, ada, "POST", "/api/v2/media", files=files)).json()

    async def is_ready() -> bool:
        return (await at(several, 1, ada, "GET", f"/api/v1/media/{sent['id']}")).status_code == 200

    await until(is_ready)
    made = await at(several, 1, ada, "POST", "/api/v1/statuses", json={"media_ids": [sent["id"]]})
    [picture] = made.json()["media_attachments"]
    path = httpx.URL(picture["url"]).raw_path.decode()
    bodies = [await at(several, number, ada, "GET", path) for number in range(3)]
    assert [one.status_code for one in bodies] == [200] * 3
    assert len({one.content for one in bodies}) == 1


async def test_nothing_is_lost_or_doubled_when_a_server_and_a_worker_die(several: SeveralTown) -> None:
    ada, bob = await join(several), await join(several)
    await bob.to(ada, "follow")
    await arrive(ada, bob)
    accepted: list[str] = []

    async def posts(number: int) -> None:
        for turn in range(25):
            key = {"Idempotency-Key": f"{number} {turn}"}
            for _ in range(20):
                try:
                    made = await ada.call(
                        "POST", "/api/v1/statuses", json={"status": f"{number} {turn} @{bob.name}"}, headers=key
                    )
                except httpx.TransportError:
                    await asyncio.sleep(0.1)
                    continue
                if made.status_code == 200:
                    accepted.append(made.json()["id"])
                    break
                await asyncio.sleep(0.1)

    posting = asyncio.gather(*(posts(number) for number in range(4)))
    await asyncio.sleep(0.5)
    several.serving[2].send_signal(signal.SIGKILL)
    several.working[0].send_signal(signal.SIGKILL)
    await posting
    several.start_server(2)
    several.start_worker()
    await several.answering([2])
    await settle(several)

    assert len(accepted) == len(set(accepted)) == 100
    found: list[str] = []
    path = f"/api/v1/accounts/{ada.id}/statuses?limit=40"
    while page := await bob.get(path + (f"&max_id={found[-1]}" if found else "")):
        found += [one["id"] for one in page]
    assert sorted(found, key=int) == sorted(accepted, key=int)
    told: list[str] = []
    path = "/api/v1/notifications?types[]=mention&limit=40"
    while page := await bob.get(path + (f"&max_id={told[-1]}" if told else "")):
        told += [one["id"] for one in page]
    assert len(told) == 100


async def test_schedules_move_on_once_and_every_process_makes_ids_of_its_own(several: SeveralTown) -> None:
    """Each periodic kind has one row that says when it is due next; whoever moves it on makes the job."""
    database = await connect(load(several.environment), connections=1)
    try:
        db = database.session()
        await db.run(_all_due, now=datetime.now(UTC) - timedelta(seconds=1))
        await db.commit()

        async def have_moved_on() -> bool:
            return await database.session().all(_still_due, now=datetime.now(UTC)) == [0]

        await until(have_moved_on)
        await settle(several)
        assert await database.session().all(_twice) == []
        assert await database.session().all(_alive, since=datetime.now(UTC) - timedelta(seconds=30)) >= [2]
        assert (await database.session().all(_slots))[0] >= several.servers + several.workers
    finally:
        await database.close()
