"""What one server makes another keep and send is bounded by its bytes, not only by how often it asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import and_, bindparam, func, select, update

from kith.base.db import Instant, command, insert_into, query
from kith.base.http.sites import registrable_domain, site_of_domain
from kith.base.jobs.tables import jobs
from kith.base.limits import rate_counts
from kith.federation.delivery.couriers import Couriers
from kith.federation.delivery.sending import STRETCH_BYTES
from kith.federation.delivery.tables import outgoing
from kith.federation.inbox import store, tasks
from kith.federation.inbox.floods import KILOBYTES_FROM_HOST, MOST_PUT_OFF_BYTES, kilobytes
from kith.federation.inbox.intake import AT_ONCE, BYTES_AT_ONCE, Intake, as_many_as_have_room
from kith.federation.inbox.passing_on import LONGEST, PASS_ON, TOGETHER, PassOn, tell_of_boosted
from kith.federation.inbox.processing import process
from kith.federation.inbox.shortening import SHORT, shortened
from kith.federation.inbox.tables import ALONE, FETCHING, NOBODY, WAITING, Received, inbox
from kith.federation.vocabulary.incoming import read_activity
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId, StatusId
from tests.conftest import TownBuilder
from tests.federation.inbox_street import Street, street
from tests.federation.inboxes import InboxServer, inbox_server
from tests.federation.outgoing import follows
from tests.federation.post_office import open_office
from tests.federation.receiving import AS, PUBLIC, activity, note_of, somebody, written
from tests.social.members import Member, join, until
from tests.social.posts import does, said_elsewhere
from tests.town import Town
from tests.town.town import Engine

pytestmark = pytest.mark.both_databases

_passed_on = query(
    select(jobs.c.payload, jobs.c.run_at).where(jobs.c.kind == PASS_ON.name).order_by(jobs.c.run_at), tuple
)
_outgoing = query(select(outgoing.c.activity).order_by(outgoing.c.id), str)
_outgoing_ids = query(select(outgoing.c.id), int)
_rows = query(select(inbox.c.state, inbox.c.body, inbox.c.size, inbox.c.site).order_by(inbox.c.id), tuple)
_kept = query(select(func.count()).select_from(inbox).where(inbox.c.state == FETCHING), int)
_waiting = query(select(func.count()).select_from(inbox).where(inbox.c.state == WAITING), int)
_later = query(
    select(func.count())
    .select_from(jobs)
    .where(and_(jobs.c.kind == tasks.COMPLETE.name, jobs.c.run_at > bindparam("then", type_=Instant()))),
    int,
)
_grow = command(update(inbox).values(size=bindparam("new")))
_bodies = query(select(inbox.c.body), str)
_kept_ids = query(select(inbox.c.id).where(inbox.c.state == FETCHING), int)
_much = command(insert_into(rate_counts))


@pytest.fixture(scope="module")
async def lane(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Street]:
    async with street(engine, tmp_path_factory.mktemp("lane")) as made:
        yield made


def received(id: int, sent: dict[str, Any], **changes: Any) -> Received:
    now = datetime.now(UTC)
    body = msgspec.json.encode({"@context": AS} | sent).decode()
    made = Received(id, NOBODY, f"{id}", NOBODY, body, None, WAITING, now, now, size=len(body))
    return msgspec.structs.replace(made, **changes)


# Edits of what was boosted here


async def _boosted(new_town: TownBuilder) -> tuple[Town, Member, Account, dict[str, Any], StatusId]:
    town = await new_town(worker="off")
    ada, author, fan = await join(town), await somebody(town), await somebody(town, "fans.example")
    await follows(town, fan, ada)
    long_ago = datetime.now(UTC) - timedelta(hours=1)
    id = await said_elsewhere(town, author, created_at=long_ago, fetched_at=long_ago)
    await does(ada, "reblog", id)
    note = note_of(author, published=written(long_ago)) | {"id": f"{author.uri}/{id}"}
    return town, ada, author, note, StatusId(int(id))


async def _edits(town: Town, author: Account, note: dict[str, Any], count: int, **more: Any) -> None:
    async with town.house() as house:
        for number in range(count):
            said = note | {"content": f"<p>{number}</p>", "updated": datetime.now(UTC).isoformat()} | more
            async with house.works.begin() as work:
                row = received(work.new_id(), activity("Update", author, said, to=[PUBLIC]), account_id=author.id)
                await process(work, row)


def _turns(since: datetime) -> int:
    """How many stretches of time have been begun since then, this one included."""
    seconds = TOGETHER.total_seconds()
    return int(datetime.now(UTC).timestamp() // seconds) - int(since.timestamp() // seconds) + 1


async def test_of_many_edits_of_a_boosted_post_the_last_is_passed_on(new_town: TownBuilder) -> None:
    town, _, author, note, id = await _boosted(new_town)
    began = datetime.now(UTC)

    await _edits(town, author, note, 6)

    async with town.house() as house, house.works.begin() as work:
        waiting = await work.db.all(_passed_on)
        assert len(waiting) <= _turns(began)
        last = msgspec.json.decode(waiting[-1][0], type=PassOn)
        assert last.status_id == id
        assert msgspec.json.decode(last.activity)["object"]["content"] == "<p>5</p>"
        assert waiting[-1][1] > work.now - TOGETHER


async def test_that_it_is_gone_is_passed_on_at_once_in_place_of_an_edit(new_town: TownBuilder) -> None:
    town, _, author, note, _ = await _boosted(new_town)
    await _edits(town, author, note, 2)
    async with town.house() as house:
        async with house.works.begin() as work:
            gone = activity("Delete", author, {"id": note["id"], "type": "Tombstone"})
            await process(work, received(work.new_id(), gone, account_id=author.id))
        async with house.works.begin() as work:
            *_, (payload, at) = sorted(await work.db.all(_passed_on), key=lambda one: "Delete" in one[0])
            assert msgspec.json.decode(msgspec.json.decode(payload, type=PassOn).activity)["type"] == "Delete"
            assert at <= work.now


async def test_a_long_edit_is_passed_on_in_our_words(new_town: TownBuilder) -> None:
    town, ada, author, note, id = await _boosted(new_town)

    await _edits(town, author, note, 2, name="x" * LONGEST)

    async with town.house() as house, house.works.begin() as work:
        payloads = [payload for payload, _ in await work.db.all(_passed_on)]
        assert max(map(len, payloads)) < 200
        for payload in (msgspec.json.decode(payloads[-1], type=PassOn), PassOn(id, f'{{"name":"{"x" * LONGEST}"}}')):
            await tell_of_boosted(work, payload)
        told = [msgspec.json.decode(text) for text in await work.db.all(_outgoing)][-2:]
    in_our_words = {"@context": AS, "type": "Update", "actor": author.uri, "object": note["id"], "to": [PUBLIC]}
    assert told == [in_our_words, in_our_words]
    assert ada.me["uri"] not in str(told)


# Sending


@pytest.fixture
async def sink() -> AsyncIterator[InboxServer]:
    async with inbox_server() as one:
        yield one


async def test_a_stretch_is_as_long_as_it_has_bytes(engine: Engine, tmp_path: Path, sink: InboxServer) -> None:
    async with open_office(engine, tmp_path) as office:
        for number in range(5):
            content = "é" * (STRETCH_BYTES // 5)  # two bytes each: two of them have room
            sent = {"id": f"https://a.example/{number}", "type": "Like", "content": content}
            await office.tell(sink.inbox, sink.inbox_of("/other"), activity=sent)
        sink.may_answer.clear()
        sending = asyncio.create_task(office.send(sink.domain))
        await sink.until(1)

        assert len([one for one in await office.rows() if one[5] is not None]) == 4
        sink.may_answer.set()
        await sending
        assert sorted(sink.ids) == sorted(f"https://a.example/{number}" for number in range(5) for _ in range(2))
        assert await office.rows() == []


async def test_what_goes_to_many_hosts_is_in_memory_once(engine: Engine, tmp_path: Path, sink: InboxServer) -> None:
    async with open_office(engine, tmp_path) as office:
        await office.post(sink.inbox)
        async with office.house.works.begin() as work:
            couriers = work.find(Couriers)
            [id] = await work.db.all(_outgoing_ids)
            one, other = await couriers.contents(work, {id}), await couriers.contents(work, {id})
        assert one[id] is other[id]


# The inbox


async def test_a_batch_of_the_inbox_is_as_long_as_it_has_bytes(new_town: TownBuilder) -> None:
    town = await new_town(worker="off")
    async with town.house() as house, house.works.begin() as work:
        rows = [received(work.new_id(), {"name": "x" * 1000}, turn=number) for number in range(5)]
        await store.add(work.db, rows)

        taken, has_more = await store.take(work.db, [rows[0].site] * 50, 2 * rows[0].size)
        assert ([one.id for one in taken], has_more) == ([one.id for one in rows[:2]], True)
        taken, has_more = await store.take(work.db, [rows[0].site] * 50, 1)  # the first in any case
        assert ([one.id for one in taken], has_more) == ([rows[0].id], True)
        taken, has_more = await store.take(work.db, [rows[0].site] * 50, tasks.BATCH_BYTES)
        assert ([one.id for one in taken], has_more) == ([one.id for one in rows], False)


def test_what_comes_at_once_is_written_in_parts() -> None:
    sizes = [BYTES_AT_ONCE // 2] * 5

    assert as_many_as_have_room(sizes) == 2
    assert as_many_as_have_room([2 * BYTES_AT_ONCE, 1]) == 1  # the first in any case
    assert as_many_as_have_room([1] * 2 * AT_ONCE) == AT_ONCE
    assert as_many_as_have_room([1]) == 1


def _named(sender: Account, **more: Any) -> dict[str, Any]:
    return activity("Create", sender, f"{sender.uri}/notes/1", to=[PUBLIC], cc=[f"{sender.uri}/followers"], **more)


async def test_what_waits_for_what_it_names_is_kept_in_short(new_town: TownBuilder) -> None:
    town = await new_town(worker="off")
    ada, author = await join(town), await somebody(town)
    to_ada = {"account_id": author.id, "delivered_to": AccountId(int(ada.id))}
    async with town.house() as house:
        async with house.works.begin() as work:
            long = _named(author, name="x" * 100_000, junk=[{"a": 1}] * 1000)
            note = note_of(author, tag=[{"type": "Mention", "href": "https://third.example/users/eve"}])
            brought = activity(
                "Create",
                author,
                note | {"name": "x" * 100_000, "to": [ada.me["uri"]]},
                id="https://elsewhere.example/2",
            )
            await Intake(house.works).keep(received(work.new_id(), long, **to_ada), "www.elsewhere.example")
            await Intake(house.works).keep(received(work.new_id(), brought, **to_ada), "www.elsewhere.example")
        for _ in range(2):  # a batch may end after the first
            async with house.works.begin() as work:
                await tasks.take(work, [])
        async with house.works.begin() as work:
            (state, body, size, site), whole = await work.db.all(_rows)
    assert (state, site) == (FETCHING, "elsewhere.example")
    assert size == len(body.encode()) < SHORT
    assert read_activity(msgspec.json.decode(body)) == read_activity({"@context": AS} | long)
    assert whole[0] == FETCHING
    assert whole[2] > 100_000, "what it is about is read from it"


@pytest.mark.parametrize(
    "sent",
    [
        {"type": "Announce", "object": "https://b.example/1", "published": "2026-11-01T10:00:00Z"},
        {"type": "Like", "object": "https://b.example/1", "content": ":blob:", "tag": [{"type": "Emoji", "name": ":b:"}]},
        {"type": ["Follow", "x"], "object": "https://b.example/u", "actor": {"id": "https://a.example/u", "x": "y" * 5000}},
        {"type": "Accept", "object": "https://b.example/f", "result": "https://a.example/stamps/1"},
        {"type": "Add", "object": "https://a.example/1", "target": "https://a.example/featured"},
        {"type": "Move", "object": "https://a.example/u", "target": "https://b.example/u"},
        {"type": "Flag", "object": "https://b.example/u", "content": "spam " * 2000},
    ],
    ids=lambda sent: str(sent["type"]),
)  # fmt: skip
def test_what_is_kept_in_short_says_the_same(sent: dict[str, Any]) -> None:
    whole = {
        "@context": [AS, {"junk": "x" * 5000}],
        "id": "https://a.example/activities/1",
        "actor": "https://a.example/u",
        "to": [PUBLIC, "https://a.example/u/followers"],
        "cc": "https://b.example/u",
        "signature": {"signatureValue": "x" * 5000},
    } | sent

    short = shortened(msgspec.json.encode(whole).decode())

    assert short is not None
    assert len(short) <= 2 * SHORT
    assert read_activity(msgspec.json.decode(short)) == read_activity(whole)


def test_what_is_short_or_brings_its_object_along_stays_as_it_is() -> None:
    short = {"@context": AS, "type": "Like", "object": "https://b.example/1"}
    brought = short | {"object": {"id": "https://b.example/1"}, "name": "x" * SHORT}
    quoting = short | {"instrument": {"type": "Note", "content": "x" * SHORT}}
    crowd = short | {"actor": "https://a.example/u", "to": [f"https://a.example/{'u' * 100}/{n}" for n in range(900)]}

    assert [shortened(msgspec.json.encode(one).decode()) for one in (short, brought, quoting)] == [None] * 3
    made = shortened(msgspec.json.encode(crowd).decode())
    assert made is not None
    assert len(made) < 3 * SHORT


async def _put_off(lane: Street, domain: str, size: int) -> int:
    """As if so much of a server waited already."""
    async with lane.here.house() as house, house.works.begin() as work:
        row = received(work.new_id(), {}, state=ALONE, size=size, site=registrable_domain(domain))
        await store.add(work.db, [row])
        return row.id


async def _drop(lane: Street, id: int) -> None:
    async with lane.here.house() as house, house.works.begin() as work:
        await store.drop(work.db, [id])


async def test_of_whom_too_much_waits_nothing_more_is_taken_for_a_while(lane: Street) -> None:
    bob = await join(lane.here)
    loud, quiet = lane.gone.person("loud", key=1), lane.there.person("quiet", key=2)
    held = await _put_off(lane, lane.gone.domain, MOST_PUT_OFF_BYTES)
    try:
        refused = await lane.says(loud, loud.activity("Follow", bob.me["uri"]))
        taken = await lane.says(quiet, quiet.activity("Follow", bob.me["uri"]))
    finally:
        await _drop(lane, held)
    assert (refused.status_code, taken.status_code) == (429, 202)
    assert int(refused.headers["retry-after"]) >= 1


async def test_of_whom_much_waits_nothing_more_waits_for_a_host_that_is_away(lane: Street) -> None:
    bob, carol = await join(lane.here), lane.away.person("carol", key=1)

    async def names(path: str) -> None:
        lane.away.serves(path, b"", status=503)
        said = carol.activity("Create", f"{lane.away.url}{path}", to=[bob.me["uri"]])
        assert (await lane.says(carol, said, to=bob)).status_code == 202

    async def are_put_off(count: int) -> bool:
        later = await lane.ask(_later, then=datetime.now(UTC) + timedelta(seconds=20))
        return (await lane.ask(_waiting), await lane.ask(_kept), later) == (0, count, count)

    await names("/busy/1")
    await until(lambda: are_put_off(1))
    async with lane.here.house() as house, house.works.begin() as work:
        await work.db.run(_grow, new=MOST_PUT_OFF_BYTES // 2)
    await names("/busy/2")
    await until(lambda: are_put_off(1))
    assert [one for one in await lane.every(_bodies) if "/busy/2" in one] == []
    async with lane.here.house() as house, house.works.begin() as work:
        await store.drop(work.db, await work.db.all(_kept_ids))


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_bytes_of_a_site_are_counted_beside_its_requests(engine: Engine, tmp_path: Path) -> None:
    """Processes add up what they count, which is how this pretends that much has come already."""
    async with street(engine, tmp_path, rate_limits="on") as lane:
        bob, carol = await join(lane.here), lane.away.person("carol", key=1)
        site, window = site_of_domain(lane.away.domain), int(datetime.now(UTC).timestamp()) // 300
        async with lane.here.house() as house, house.works.begin() as work:
            for one in (window, window + 1):
                await work.db.run(
                    _much,
                    key=f"{KILOBYTES_FROM_HOST.name}:{site}",
                    window=one,
                    ends=(one + 1) * 300,
                    count=KILOBYTES_FROM_HOST.most,
                )

        async def is_refused() -> bool:
            said = carol.activity("Like", bob.me["uri"], junk="x" * 1000)
            answer = await lane.says(carol, said)
            # 202 until the count is known, which is what is waited for.
            assert answer.status_code in (202, 429)
            return answer.status_code == 429

        await until(is_refused)


def test_kilobytes_are_rounded_up() -> None:
    assert [kilobytes(size) for size in (0, 1, 1024, 1025)] == [0, 1, 1, 2]
