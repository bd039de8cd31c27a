"""Deliveries: each inbox once, in order, again when it failed, and never at the cost of other hosts."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from sqlalchemy import bindparam, update

from kith import __version__
from kith.base.db import Instant, command
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.delivery import operators, store
from kith.federation.delivery.couriers import Couriers
from kith.federation.delivery.hosts import heard_from
from kith.federation.delivery.ports import DeliveryGate
from kith.federation.delivery.rules import pause_before, read_retry_after
from kith.federation.delivery.service import DeliveryPriority
from kith.federation.delivery.store import WAITED_FOR
from kith.federation.delivery.tasks import GIVEN_UP_AFTER, SEND, SEND_TO_NEW, SEND_TO_TROUBLED
from kith.federation.keys import service as keys
from kith.federation.keys import store as actor_keys
from kith.federation.signatures.received import ReceivedRequest, SignatureClaim
from kith.federation.signatures.verifying import is_valid, read_claim
from kith.social.accounts.tables import accounts as social_accounts
from tests.federation.inboxes import InboxServer, ReceivedPost, inbox_server
from tests.federation.post_office import PostOffice, ago, open_office
from tests.town.town import Engine

_gone = command(
    update(social_accounts)
    .where(social_accounts.c.id == bindparam("account"))
    .values(deleted_at=bindparam("now", type_=Instant()))
)
ONE, TWO, THREE = "https://a.example/1", "https://a.example/2", "https://a.example/3"


@pytest.fixture
async def office(engine: Engine, tmp_path: Path) -> AsyncIterator[PostOffice]:
    async with open_office(engine, tmp_path) as one:
        yield one


@pytest.fixture
async def sink() -> AsyncIterator[InboxServer]:
    async with inbox_server() as one:
        yield one


@pytest.fixture
async def other() -> AsyncIterator[InboxServer]:
    async with inbox_server() as one:
        yield one


async def is_signed_by(office: PostOffice, post: ReceivedPost, domain: str) -> bool:
    key = load_pem_public_key((await keys.public_key(office.house.works.open(), None)).encode())
    assert isinstance(key, RSAPublicKey)
    return is_valid(claim_of(post, domain), key)


def claim_of(post: ReceivedPost, domain: str) -> SignatureClaim:
    headers = [(name.encode(), value.encode()) for name, value in post.headers.items()]
    request = ReceivedRequest("POST", post.path.encode(), b"", headers, post.body, origins=(f"http://{domain}",))
    return read_claim(request, datetime.now(UTC))


async def test_each_inbox_gets_it_once_and_signed(office: PostOffice, sink: InboxServer) -> None:
    ada, shared = sink.inbox_of("/users/ada/inbox"), sink.inbox
    await office.post(shared, ada, shared, ada)
    assert len(await office.rows()) == 2
    [job] = await office.jobs()
    assert job.kind == SEND_TO_NEW.name

    await office.send(sink.domain)

    assert sorted(post.path for post in sink.received) == ["/inbox", "/users/ada/inbox"]
    for post in sink.received:
        assert await is_signed_by(office, post, sink.domain)
        assert post.headers["content-type"] == "application/activity+json"
        assert post.headers["user-agent"] == f"Kith/{__version__} (+{office.town.base_url}/)"
        assert post.activity["@context"] == "https://www.w3.org/ns/activitystreams"
    assert await office.rows() == []
    assert await office.activities() == []


async def test_what_no_inbox_can_be_is_left_out(office: PostOffice) -> None:
    await office.post("", "inbox", "ftp://b.example/inbox", "http://b.example/inbox", f"{office.town.base_url}/inbox")
    assert await office.rows() == []
    assert await office.activities() == []
    assert await office.jobs() == []


async def test_headers_of_a_host_are_signed_too(office: PostOffice, sink: InboxServer, other: InboxServer) -> None:
    field = 'collectionId="https://a.example/f", url="https://a.example/s", digest="00"'
    await office.post(sink.inbox, other.inbox, headers_for={sink.domain: {"collection-synchronization": field}})
    await office.send(sink.domain)
    await office.send(other.domain)
    [post], [plain] = sink.received, other.received
    assert post.headers["collection-synchronization"] == field
    assert " collection-synchronization" in post.headers["signature"]
    assert await is_signed_by(office, post, sink.domain)
    assert "collection-synchronization" not in plain.headers


# Signatures


async def test_a_host_that_refuses_the_first_signature_is_asked_with_the_second_from_then_on(
    office: PostOffice, sink: InboxServer
) -> None:
    sink.answer = lambda post: "202 Accepted" if post.scheme == "rfc9421" else "401 Unauthorized"
    await office.post(sink.inbox, id=ONE)
    await office.send(sink.domain)
    assert [post.scheme for post in sink.received] == ["cavage", "rfc9421"]
    assert await is_signed_by(office, sink.received[1], sink.domain)
    assert (await office.host(sink.domain)).scheme == "rfc9421"

    await office.post(sink.inbox, id=TWO)
    await office.send(sink.domain)
    assert [post.scheme for post in sink.received[2:]] == ["rfc9421"]
    assert await office.rows() == []


async def test_a_host_that_accepts_the_first_is_not_asked_with_another(office: PostOffice, sink: InboxServer) -> None:
    sink.answers("202 Accepted", "400 Bad Request")
    await office.post(sink.inbox, id=ONE)
    await office.post(sink.inbox, id=TWO)
    await office.send(sink.domain)
    assert [post.scheme for post in sink.received] == ["cavage", "cavage"]
    assert (await office.host(sink.domain)).scheme == "cavage"


async def test_a_host_that_has_changed_its_mind_is_understood(office: PostOffice, sink: InboxServer) -> None:
    await office.change_host(sink.domain, scheme="rfc9421")
    sink.answer = lambda post: "202 Accepted" if post.scheme == "cavage" else "401 Unauthorized"
    await office.post(sink.inbox)
    await office.send(sink.domain)
    assert await office.rows() == []
    assert (await office.host(sink.domain)).scheme == "cavage"


# Retries


@pytest.mark.parametrize("status", ["500 Error", "503 Unavailable", "401 No", "408 Slow", "429 Many", "302 Found"])
async def test_what_may_work_later_is_tried_again(office: PostOffice, sink: InboxServer, status: str) -> None:
    sink.answers(status, status, "202 Accepted")
    await office.post(sink.inbox)
    asked_at = datetime.now(UTC)
    await office.send(sink.domain)
    [(_, _, _, attempts, next_at, held_by)] = await office.rows()
    assert (attempts, held_by) == (1, None)
    assert timedelta(seconds=14) < next_at - asked_at < timedelta(seconds=60)
    assert any(job.kind == SEND_TO_TROUBLED.name and job.run_at >= next_at for job in await office.jobs())

    before = len(sink.received)
    await office.send(sink.domain)  # it is not due
    assert len(sink.received) == before
    sink.answers("202 Accepted")
    await office.send_later(sink.domain)
    assert await office.rows() == []


@pytest.mark.parametrize("status", ["400 Bad", "403 No", "404 Not Found", "410 Gone", "422 No", "501 Not Implemented"])
async def test_what_never_works_is_not_tried_again(office: PostOffice, sink: InboxServer, status: str) -> None:
    sink.answers(status)
    await office.post(sink.inbox)
    await office.send(sink.domain)
    assert await office.rows() == []
    host = await office.host(sink.domain)
    assert (host.failures, host.failing_days) == (0, 0)


def test_pauses_grow_as_the_table_says() -> None:
    for retry, (least, most) in enumerate([(15, 15), (16, 16.5), (31, 39), (96, 136.5), (271, 399)]):
        assert least <= pause_before(retry).total_seconds() <= most
    assert 50_640 <= pause_before(15).total_seconds() <= 75_953


@pytest.mark.parametrize(("priority", "retries"), [(DeliveryPriority.NORMAL, 16), (DeliveryPriority.LOW, 8)])
async def test_after_the_last_retry_it_is_given_up(
    office: PostOffice, sink: InboxServer, priority: DeliveryPriority, retries: int
) -> None:
    sink.answers("500 Error")
    await office.post(sink.inbox, priority=priority)
    await office.send(sink.domain)
    for _ in range(retries):
        assert len(await office.rows()) == 1
        await office.change_host(sink.domain, failures=0, paused_until=None)
        await office.send_later(sink.domain)
    assert await office.rows() == []
    assert len(sink.received) == 1 + retries


async def test_a_host_that_asks_for_time_gets_it(office: PostOffice, sink: InboxServer) -> None:
    sink.answers("429 Too Many Requests\r\nRetry-After: 600", "202 Accepted")
    asked_at = datetime.now(UTC)
    await office.post(sink.inbox, id=ONE)
    await office.post(sink.inbox_of("/users/bob/inbox"), id=TWO)
    await office.send(sink.domain)
    assert len(sink.received) == 1
    [(*_, first_at, _), (*_, held_by)] = await office.rows()
    assert first_at - asked_at > timedelta(seconds=599)
    assert held_by is None
    await office.send(sink.domain)
    assert len(sink.received) == 1
    assert (await office.jobs())[-1].run_at - asked_at > timedelta(seconds=599)

    await office.change_host(sink.domain, paused_until=ago(seconds=1))
    await office.send_later(sink.domain)
    assert sorted(sink.ids) == [ONE, ONE, TWO]


NOW = datetime(2024, 3, 5, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "text", "seconds"),
    [
        (503, "120", 120),
        (429, "0", None),
        (429, "99999999999999", 3600),
        (503, "Tue, 05 Mar 2024 10:00:30 GMT", 30),
        (503, "Tue, 05 Mar 2024 09:00:30 GMT", None),
        (503, "Wed, 06 Mar 2024 10:00:30 GMT", 3600),
        (503, "soon", None),
        (503, "Wed, 06 Mar 99999999999999999999 10:00:30 GMT", None),
        (503, "\N{SUPERSCRIPT TWO}", None),
        (503, "", None),
        (500, "120", None),
    ],
)
def test_a_wish_for_time_is_read_within_reason(status: int, text: str, seconds: int | None) -> None:
    found = read_retry_after(status, text, NOW)
    assert (found and (found - NOW).total_seconds()) == seconds


async def test_the_news_of_a_new_key_is_signed_with_the_old_one(office: PostOffice, sink: InboxServer) -> None:
    old = (await keys.signer(office.house.works.open(), None)).key.public_key()
    async with office.house.works.begin() as work:
        await keys.rotate(work, None)
    await office.post(sink.inbox, id=ONE, with_previous_key=True)
    await office.post(sink.inbox, id=TWO)
    await office.send(sink.domain)
    assert [is_valid(claim_of(post, sink.domain), old) for post in sink.received] == [True, False]


async def test_whoever_knows_the_new_key_already_is_told_with_that(office: PostOffice, sink: InboxServer) -> None:
    """As a host that was told at another of its inboxes: nothing waits behind news that it would never believe."""
    old = (await keys.signer(office.house.works.open(), None)).key.public_key()
    async with office.house.works.begin() as work:
        await keys.rotate(work, None)

    def answer(post: ReceivedPost) -> str:
        return "401 Unauthorized" if is_valid(claim_of(post, sink.domain), old) else "202 Accepted"

    sink.answer = answer
    await office.post(sink.inbox, id=ONE, with_previous_key=True)
    await office.post(sink.inbox, id=TWO)
    await office.send(sink.domain)
    assert list(dict.fromkeys(sink.ids)) == [ONE, TWO]
    assert await office.rows() == []


async def test_what_is_too_old_is_given_up_whatever_it_waits_for(office: PostOffice, sink: InboxServer) -> None:
    await office.post(sink.inbox)
    await office.overdue()
    assert len(await office.rows()) == 1
    async with office.house.works.begin() as work:
        work.now += GIVEN_UP_AFTER + timedelta(seconds=5)
        assert await store.give_up(work.db, work.now - GIVEN_UP_AFTER) == 1
    assert (await office.rows(), await office.activities()) == ([], [])


# Hosts that fail


async def test_after_ten_failures_a_host_is_left_alone_for_a_minute_and_then_asked_once(
    office: PostOffice, sink: InboxServer
) -> None:
    sink.answers("500 Error")
    for number in range(15):
        await office.post(sink.inbox_of(f"/users/{number}/inbox"))
    asked_at = datetime.now(UTC)
    for _ in range(12):
        await office.send(sink.domain)
    assert len(sink.received) == 10
    host = await office.host(sink.domain)
    assert host.failures == 10
    assert host.paused_until is not None
    assert timedelta(seconds=59) < host.paused_until - asked_at < timedelta(seconds=120)

    await office.change_host(sink.domain, paused_until=ago(seconds=1))
    await office.send(sink.domain)
    assert len(sink.received) == 11
    sink.answers("202 Accepted")
    await office.change_host(sink.domain, paused_until=ago(seconds=1))
    await office.send_later(sink.domain)
    assert await office.rows() == []
    assert (await office.host(sink.domain)).failures == 0


async def test_a_host_that_failed_on_seven_days_is_parked_until_it_speaks(
    office: PostOffice, sink: InboxServer
) -> None:
    await sink.stop()
    await office.post(sink.inbox, id=ONE)
    await office.send(sink.domain)
    assert (await office.host(sink.domain)).failing_days == 1
    for day in range(2, 8):
        await office.change_host(sink.domain, failed_at=ago(days=1), failures=1, paused_until=None)
        await office.send_later(sink.domain)
        assert (await office.host(sink.domain)).failing_days == day
    assert (await office.host(sink.domain)).unavailable_since is not None

    await office.forget_jobs()
    await office.post(sink.inbox, id=TWO)
    await office.make_due()
    await office.overdue()
    await sink.start()
    await office.send(sink.domain)
    assert await office.jobs() == []
    assert (sink.received, len(await office.rows())) == ([], 1)

    async with office.house.works.begin() as work:
        await heard_from(work, sink.domain)
    assert len(await office.jobs()) == 1
    await office.send(sink.domain)
    assert sink.ids == [ONE]
    await office.post(sink.inbox, id=THREE)
    await office.send(sink.domain)
    assert sink.ids == [ONE, THREE]


async def test_a_parked_host_gets_what_is_sent_even_then_and_wakes_when_it_takes_it(
    office: PostOffice, sink: InboxServer
) -> None:
    await office.post(sink.inbox, id=ONE)
    await office.change_host(sink.domain, unavailable_since=ago(days=1), failing_days=7, failures=9)
    await office.post(sink.inbox, id=TWO, even_if_dead=True)
    await office.send(sink.domain)
    assert sink.ids == [TWO]
    host = await office.host(sink.domain)
    assert (host.unavailable_since, host.failing_days) == (None, 0)
    await office.send(sink.domain)
    assert sink.ids == [TWO, ONE]


@pytest.mark.parametrize(
    ("known", "kind"),
    [
        ({}, SEND_TO_NEW),
        ({"succeeded_at": ago(days=1)}, SEND),
        ({"succeeded_at": ago(days=1), "failures": 1}, SEND_TO_TROUBLED),
        ({"succeeded_at": ago(days=1), "is_slow": True}, SEND_TO_TROUBLED),
    ],
)
async def test_hosts_that_answered_last_time_have_a_lane_of_their_own(
    office: PostOffice, known: dict[str, Any], kind: JobKind[Any]
) -> None:
    await office.change_host("b.example", **known)
    await office.post("https://b.example/inbox")
    assert [job.kind for job in await office.jobs()] == [kind.name]


async def test_no_number_of_silent_hosts_delays_one_that_answers(
    office: PostOffice, sink: InboxServer, other: InboxServer
) -> None:
    """`other` listens on every address of the loopback network and says nothing: each address is a host."""
    other.may_answer.clear()
    silent = [f"http://127.0.1.{number}:{other.domain.partition(':')[2]}/inbox" for number in range(1, 101)]
    await other.stop()
    other.may_answer.clear()
    await other.start(everywhere=True)
    await office.post(*silent, id=ONE)
    await office.post(sink.inbox, id=TWO)
    worker = office.house.worker()
    working = asyncio.create_task(worker.run())
    try:
        await other.until(60)
        await sink.until(1)
        assert other.open > 0  # they are still waited for
        assert sink.ids == [TWO]
    finally:
        await other.stop()
        worker.stop()
        await working


# Order


async def test_what_one_sender_has_for_one_inbox_arrives_in_order(office: PostOffice, sink: InboxServer) -> None:
    ids = [f"https://a.example/{number}" for number in range(20)]
    for id in ids:
        await office.post(sink.inbox, sink.inbox_of("/users/bob/inbox"), id=id)
    await office.send(sink.domain)
    for path in ("/inbox", "/users/bob/inbox"):
        assert [post.activity["id"] for post in sink.received if post.path == path] == ids
    assert sink.connections <= 3


async def test_what_follows_waits_for_what_has_failed_but_not_for_ever(office: PostOffice, sink: InboxServer) -> None:
    ada, bob = await office.member("ada"), await office.member("bob")
    sink.answer = lambda post: "500 Error" if post.activity["id"] == ONE else "202 Accepted"
    await office.post(sink.inbox, id=ONE, sender=ada)
    await office.post(sink.inbox, id=TWO, sender=ada)
    await office.send(sink.domain)
    await office.post(sink.inbox, id=THREE, sender=bob)
    await office.send(sink.domain)
    assert sink.ids == [ONE, THREE]
    for _ in range(3):
        assert TWO not in sink.ids
        await office.send_later(sink.domain)
    await office.send(sink.domain)
    assert sink.ids == [ONE, THREE, ONE, ONE, ONE, TWO]
    assert [row[3] for row in await office.rows()] == [4]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"id": ONE, "type": "Like", "object": THREE}, {"id": TWO, "type": "Undo", "object": {"id": ONE}}),
        (
            {"id": ONE, "type": "Create", "object": {"id": THREE, "type": "Note"}},
            {"id": TWO, "type": "Delete", "object": {"id": THREE, "type": "Tombstone"}},
        ),
        (
            {"id": ONE, "type": "Create", "object": {"id": THREE, "type": "Note"}},
            {"id": TWO, "type": "Update", "object": {"id": THREE, "type": "Note"}},
        ),
        ({"id": ONE, "type": "Add", "object": THREE}, {"id": TWO, "type": "Remove", "object": THREE}),
    ],
    ids=["like", "delete", "update", "pin"],
)
async def test_what_changes_something_never_overtakes_what_began_it(
    office: PostOffice, sink: InboxServer, first: dict[str, Any], second: dict[str, Any]
) -> None:
    """An answer may have been lost: what began it arrives again, and would begin it again."""
    sink.answer = lambda _: "500 Error"
    await office.tell(sink.inbox, activity=first)
    await office.send(sink.domain)
    await office.tell(sink.inbox, activity=second)
    for _ in range(WAITED_FOR + 3):
        await office.send_later(sink.domain)
    assert set(sink.ids) == {ONE}
    sink.answer = lambda _: "202 Accepted"
    await office.send_later(sink.domain)
    await office.send_later(sink.domain)
    assert sink.ids[-2:] == [ONE, TWO]
    assert sink.ids.count(TWO) == 1
    assert await office.rows() == []


async def test_that_somebody_is_gone_waits_for_nothing_that_is_not_sent_any_more(
    office: PostOffice, sink: InboxServer
) -> None:
    sink.answer = lambda _: "500 Error"
    await office.tell(sink.inbox, activity={"id": ONE, "type": "Update", "object": {"id": THREE}})
    for _ in range(WAITED_FOR + 2):
        await office.send_later(sink.domain)
    await office.change_host(sink.domain, unavailable_since=datetime.now(UTC))
    sink.answer = lambda _: "202 Accepted"
    await office.tell(sink.inbox, activity={"id": TWO, "type": "Delete", "object": THREE}, even_if_dead=True)
    await office.send(sink.domain)
    assert sink.ids[-1] == TWO


async def test_a_host_gets_several_at_once_but_not_too_many(office: PostOffice, sink: InboxServer) -> None:
    sink.may_answer.clear()
    await office.post(*(sink.inbox_of(f"/users/{number}/inbox") for number in range(30)))
    sending = asyncio.create_task(office.send(sink.domain))
    await sink.until(1)
    assert sink.open == 1  # one that has not answered yet gets no more
    sink.may_answer.set()
    await sending
    assert len(sink.received) == 30
    assert sink.peak <= 8
    assert sink.connections <= 8


async def test_what_follows_waits_for_the_answer_to_what_is_on_its_way(office: PostOffice, sink: InboxServer) -> None:
    """Also where another job sends to the same host meanwhile; what others have for it goes its way."""
    await office.post(sink.inbox, id=ONE)
    sink.may_answer.clear()
    first = asyncio.create_task(office.send(sink.domain))
    await sink.until(1)
    await office.post(sink.inbox, id=TWO)
    await office.post(sink.inbox_of("/other"), id=THREE)
    await office.forget_jobs()

    second = asyncio.create_task(office.send(sink.domain))
    await sink.until(2)
    assert sink.ids == [ONE, THREE]
    sink.may_answer.set()
    await asyncio.gather(first, second)

    assert [job for job in await office.jobs() if job.run_at <= datetime.now(UTC)]
    await office.send(sink.domain)
    assert sink.ids == [ONE, THREE, TWO]
    assert await office.rows() == []


# The gate, operators, and the end


class ClosedGate:
    def __init__(self, *domains: str) -> None:
        self.domains = domains

    async def admits(self, domain: str, work: Work | None = None) -> bool:
        return domain not in self.domains


async def test_nothing_is_kept_or_sent_for_hosts_that_the_gate_does_not_admit(
    office: PostOffice, sink: InboxServer, other: InboxServer
) -> None:
    services = office.house.works.services
    services[DeliveryGate] = ClosedGate(sink.domain)
    await office.post(sink.inbox, other.inbox)
    assert [row[1] for row in await office.rows()] == [other.domain]
    services[DeliveryGate] = ClosedGate(other.domain)  # meanwhile
    await office.send(other.domain)
    assert await office.rows() == []
    assert other.received == []


async def test_operators_see_hosts_and_retry_and_purge(
    office: PostOffice, sink: InboxServer, other: InboxServer
) -> None:
    await office.post(sink.inbox, other.inbox)
    await office.change_host(sink.domain, unavailable_since=ago(days=1), failing_days=7, failures=9, error="HTTP 500")
    await office.make_due(datetime.now(UTC) + timedelta(hours=1))
    listed = {one.domain: one for one in await operators.list_hosts(office.house.works.open())}
    assert (listed[sink.domain].state, listed[sink.domain].waiting) == ("unavailable", 1)
    assert listed[sink.domain].error == "HTTP 500"
    assert (listed[other.domain].state, listed[other.domain].waiting) == ("ok", 1)

    async with office.house.works.begin() as work:
        assert await operators.retry_now(work, sink.domain) == 1
    await office.send(sink.domain)
    await office.send(other.domain)
    assert (len(sink.received), other.received) == (1, [])
    async with office.house.works.begin() as work:
        assert await operators.purge_host(work, other.domain) == 1
        assert await operators.retry_now(work) == 0
    assert await office.rows() == []


async def test_what_nobody_can_sign_any_more_is_dropped(office: PostOffice, sink: InboxServer) -> None:
    ada = await office.member("ada")
    await office.post(sink.inbox, id=ONE, sender=ada)
    await office.post(sink.inbox, id=TWO)
    async with office.house.works.begin() as work:
        await work.db.run(_gone, account=ada, now=work.now)
        await actor_keys.delete_of(work.db, ada)
    await office.send(sink.domain)
    assert sink.ids == [TWO]
    assert await office.rows() == []


async def test_what_cannot_be_signed_holds_up_nothing_else(office: PostOffice, sink: InboxServer) -> None:
    await office.post(sink.inbox, id=ONE, headers_for={sink.domain: {"x-odd": "\N{SNOWMAN}"}})
    await office.post(sink.inbox, id=TWO)
    await office.send(sink.domain)
    assert sink.ids == [TWO]
    assert await office.rows() == []


async def test_two_who_send_to_a_host_never_send_the_same(office: PostOffice, sink: InboxServer) -> None:
    sink.may_answer.clear()
    await office.post(*(sink.inbox_of(f"/users/{number}/inbox") for number in range(10)))
    first = asyncio.create_task(office.send(sink.domain))
    await sink.until(1)
    await office.send(sink.domain)  # all are held by the first
    sink.may_answer.set()
    await first
    assert len(sink.received) == len({post.path for post in sink.received}) == 10


async def test_what_is_on_its_way_stays_held_however_long_the_host_takes(
    office: PostOffice, sink: InboxServer, other: InboxServer
) -> None:
    sink.may_answer.clear()
    await office.post(sink.inbox, other.inbox)
    sending = asyncio.create_task(office.send(sink.domain))
    await sink.until(1)
    async with office.house.works.begin() as work:
        [of_another] = await store.claim(
            work.db, other.domain, me=str(uuid.uuid4()), alone=False, dead=False, most=1, now=work.now, until=work.now
        )
    before = dict(await office.held_until())

    await office.house.works.services[Couriers].hold_again()

    after = dict(await office.held_until())
    [on_its_way] = [id for id in before if id != of_another.id]
    assert after[on_its_way] > before[on_its_way]
    assert after[of_another.id] == before[of_another.id]
    sink.may_answer.set()
    await sending
    assert list(dict(await office.held_until())) == [of_another.id]


async def test_a_lost_job_does_not_lose_its_deliveries(office: PostOffice, sink: InboxServer) -> None:
    await office.post(sink.inbox)
    await office.forget_jobs()
    await office.make_due(ago(minutes=2))
    await office.overdue()
    assert len(await office.jobs()) == 1


async def test_whoever_stops_gives_back_what_was_not_sent(office: PostOffice, sink: InboxServer) -> None:
    sink.may_answer.clear()
    await office.post(*(sink.inbox_of(f"/users/{number}/inbox") for number in range(3)))
    sending = asyncio.create_task(office.send(sink.domain))
    await sink.until(1)
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    assert [row[5] for row in await office.rows()] == [None] * 3
