"""Followers synchronisation: what two servers believe of who follows whom comes to agree."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import bindparam, select

from kith.app import House
from kith.base.db import query
from kith.base.jobs.tables import Job, jobs
from kith.base.limits import LimitRule
from kith.federation.signatures.digests import sha256
from kith.federation.signatures.signing import RequestToSign, SigningScheme, sign
from kith.federation.sync import receiving
from kith.federation.sync.digests import AT_ONCE, digest_of_many
from kith.federation.sync.headers import SyncHeader, digest_of, read_header, write_header
from kith.federation.sync.receiving import Synchronize
from kith.federation.sync.tasks import TAKE_BACK
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.relationships import store as relationships
from kith.social.relationships.service import follow
from tests.conftest import TownBuilder
from tests.federation.inbox_street import Street, street
from tests.federation.neighbour import ACTIVITY, RemotePerson, neighbour
from tests.federation.receiving import somebody
from tests.social.members import Member, join, until
from tests.town.town import Engine

_of_kind = query(select(jobs).where(jobs.c.kind == bindparam("kind")), Job)
# From the text of FEP-8fcf.
ALICE, BOB = "https://testing.example.org/users/1", "https://testing.example.org/users/2"


@pytest.fixture(scope="module")
async def lane(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Street]:
    async with street(engine, tmp_path_factory.mktemp("sync")) as made:
        yield made


def test_the_digest_of_a_list() -> None:
    assert digest_of([]) == "0" * 64
    assert digest_of([ALICE, BOB]) == "c33f48cd341ef046a206b8a72ec97af65079f9a3a9b90eef79c5920dce45c61f"
    assert digest_of([BOB, ALICE]) == digest_of([ALICE, BOB])


async def test_others_have_a_turn_while_a_long_list_is_added_up() -> None:
    uris = [f"https://testing.example.org/users/{number}" for number in range(AT_ONCE * 8)]
    adding = asyncio.create_task(digest_of_many(uris))
    turns = 0
    while not adding.done():
        turns += 1
        await asyncio.sleep(0)

    assert adding.result() == digest_of(uris)
    assert turns >= 8


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (write_header("https://a.example/f", "https://a.example/s", "0" * 64), SyncHeader("https://a.example/f", "https://a.example/s", "0" * 64)),
        (f'digest="{"A" * 64}",url="u",collectionId="c"', SyncHeader("c", "u", "a" * 64)),
        (f'collectionId="c" , url="u", digest="{"1" * 64}", more="x"', SyncHeader("c", "u", "1" * 64)),
        ('collectionId="c", url="u", digest="12"', None),
        (f'collectionId="c", digest="{"1" * 64}"', None),
        (f'collectionId=c, url="u", digest="{"1" * 64}"', None),
        ("", None),
        ("x" * 5000, None),
    ],
)  # fmt: skip
def test_reading_the_header(value: str, read: SyncHeader | None) -> None:
    assert read_header(value) == read


@given(st.text(max_size=200))
def test_any_header_is_read_or_passed_over(value: str) -> None:
    read_header(value)


async def follows(lane: Street, member: Member, who: RemotePerson) -> None:
    """Somebody here follows somebody there, and is let in."""
    account = (await member.get("/api/v2/search", params={"q": who.handle, "resolve": "true"}))["accounts"][0]
    await member.post(f"/api/v1/accounts/{account['id']}/follow")
    asked = await lane.there.receives(lambda one: one.type == "Follow" and one.signer == member.me["uri"])
    await lane.sends(who, who.activity("Accept", asked.activity))


async def is_following(lane: Street, member: Member, who: RemotePerson) -> bool:
    return bool((await member.sees(await lane.account_of(who)))["following"])


async def was_asked(lane: Street, path: str) -> bool:
    return path in lane.there.asked


async def says_with(lane: Street, who: RemotePerson, header: str) -> None:
    """A private post, with what its author's server believes of who follows them from here, under the signature."""
    note = who.note(uuid.uuid4().hex, "for few", to=[f"{who.uri}/followers"], cc=[])
    body = msgspec.json.encode(who.create(note))
    headers = {"content-type": ACTIVITY, "collection-synchronization": header}
    request = RequestToSign("POST", lane.inbox, sha256(body), headers)
    made = sign(who.signer, request, SigningScheme.CAVAGE, datetime.now(UTC))
    answer = await lane.there.http.post(lane.inbox, content=body, headers=made | headers)
    assert answer.status_code == 202
    await lane.settled()


def believes(lane: Street, who: RemotePerson, *members: Member, told: str | None = None) -> str:
    """What the neighbour serves from now on as the followers from here, and the header for it."""
    uris = [member.me["uri"] for member in members]
    url = lane.there.serves_collection(f"/users/{who.name}/followers_synchronization", uris)
    return write_header(f"{who.uri}/followers", url, told or digest_of(uris))


async def test_a_follow_that_is_not_known_there_ends_here_and_a_ghost_there(lane: Street) -> None:
    who = lane.there.person("sam")
    ann, ben, cy = await join(lane.here), await join(lane.here), await join(lane.here)
    await follows(lane, ann, who)
    await follows(lane, ben, who)
    path = f"/users/{who.name}/followers_synchronization"

    await says_with(lane, who, believes(lane, who, ann, ben))  # both agree
    assert path not in lane.there.asked
    await says_with(lane, who, believes(lane, who, ann, cy, told="1" * 64))  # the list is not what was told
    await until(lambda: was_asked(lane, path))
    assert await is_following(lane, ben, who)

    await says_with(lane, who, believes(lane, who, ann, cy))

    undone = await lane.there.receives(lambda one: one.type == "Undo" and one.signer == cy.me["uri"])
    inner = undone.activity["object"]
    assert (inner["type"], inner["actor"], inner["object"]) == ("Follow", cy.me["uri"], who.uri)
    assert [await is_following(lane, one, who) for one in (ann, ben, cy)] == [True, False, False]


async def test_a_follow_that_was_let_in_there_is_a_follow_here(lane: Street) -> None:
    who = lane.there.person("tia")
    ann = await join(lane.here)
    account = (await ann.get("/api/v2/search", params={"q": who.handle, "resolve": "true"}))["accounts"][0]
    await ann.post(f"/api/v1/accounts/{account['id']}/follow")
    assert not await is_following(lane, ann, who)

    await says_with(lane, who, believes(lane, who, ann))

    await until(lambda: is_following(lane, ann, who))


@asynccontextmanager
async def told(new_town: TownBuilder, *members: str) -> AsyncIterator[tuple[House, Account, Synchronize]]:
    """A house with limits, in which a job is to be done; and what a server says of who follows somebody there."""
    async with neighbour() as there:
        town = await new_town(worker="off", rate_limits="on", private_hosts=there.domain)
        uris = [(await join(town, name)).me["uri"] for name in members]
        account = await somebody(town, there.domain)
        url = there.serves_collection("/list", uris)
        async with town.house() as house:
            yield house, account, Synchronize(account.id, url, digest_of(uris))


async def waiting(house: House, kind: str) -> int:
    async with house.works.begin() as work:
        return len(await work.db.all(_of_kind, kind=kind))


async def test_of_follows_that_are_made_up_only_so_many_are_taken_back(
    new_town: TownBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is a message that a member signs: a server could have everybody here write to it, again and again."""
    monkeypatch.setattr(receiving, "GHOSTS", LimitRule("sync_ghosts", most=3, seconds=3600))
    monkeypatch.setattr(receiving, "AT_ONCE", 2)
    async with told(new_town, "ann", "ben", "cy", "di", "eli") as (house, _, payload):
        counts = []
        for _ in range(2):
            async with house.works.begin() as work:
                await receiving.synchronize(work, payload)
            counts.append(await waiting(house, TAKE_BACK.name))

    assert counts == [3, 3]


async def test_whoever_waits_to_be_let_in_is_so_however_many_follows_are_made_up(
    new_town: TownBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiving, "GHOSTS", LimitRule("sync_ghosts", most=1, seconds=3600))
    async with told(new_town, "ann", "ben", "cy") as (house, account, payload):
        async with house.works.begin() as work:
            cy = await accounts.find_named(work.db, "cy")
            assert cy is not None
            await follow.follow(work, cy, account.id, follow.Options())
        async with house.works.begin() as work:
            await receiving.synchronize(work, payload)
        async with house.works.begin() as work:
            assert await relationships.is_following(work.db, cy.id, account.id)
        assert await waiting(house, TAKE_BACK.name) == 1


async def test_a_site_has_only_so_many_lists_fetched(new_town: TownBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "LISTS", LimitRule("sync_lists", most=2, seconds=300))
    town = await new_town(worker="off", rate_limits="on")
    senders = [await somebody(town, f"{name}.elsewhere.example") for name in ("a", "b", "c")]
    async with town.house() as house:
        for sender in senders:
            async with house.works.begin() as work:
                url = f"{sender.uri}/followers_synchronization"
                await receiving.compare(work, sender, write_header(f"{sender.uri}/followers", url, "1" * 64))
        assert await waiting(house, receiving.SYNCHRONIZE.name) == 2


async def test_who_follows_is_told_to_their_own_host_alone(lane: Street) -> None:
    ann = await join(lane.here)
    near, far = lane.there.person("una"), lane.away.person("vic")
    for one in (near, far):
        await lane.sends(one, one.activity("Follow", ann.me["uri"]))
    url = f"{ann.me['uri']}/followers_synchronization"

    told = (await near.get(url)).json()
    assert (told["type"], told["orderedItems"]) == ("OrderedCollection", [near.uri])
    assert (await far.get(url)).json()["orderedItems"] == [far.uri]
    strangers = await lane.here.http.get(url, headers={"accept": ACTIVITY})
    assert strangers.status_code == 401

    await ann.post("/api/v1/statuses", json={"status": "for few", "visibility": "private"})
    for home, one in ((lane.there, near), (lane.away, far)):
        got = await home.receives("Create")
        header = read_header(next(v for n, v in got.headers.items() if n.lower() == "collection-synchronization"))
        assert header == SyncHeader(f"{ann.me['uri']}/followers", url, digest_of([one.uri]))
