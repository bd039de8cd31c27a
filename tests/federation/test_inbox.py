"""What arrives from elsewhere: whom we believe, and what is answered to whom we do not."""

from __future__ import annotations

import asyncio
import gzip
import secrets
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import msgspec
import pytest
from sqlalchemy import select

from kith.app import ROOMS
from kith.base.db import query
from kith.base.ids import id_at
from kith.federation.ended import store as ended
from kith.federation.inbox import store, tasks
from kith.federation.inbox.floods import REPORTS_FROM_HOST, UNBELIEVED
from kith.federation.inbox.tables import ALONE, Received
from kith.federation.signatures.signing import Signer, SigningScheme
from kith.social.ids import AccountId
from kith.social.moderation.tables import Report, reports
from tests.federation.inbox_street import Street, street
from tests.federation.neighbour import ACTIVITY, AS, RemotePerson, private_key
from tests.social.members import join
from tests.social.posts import notices, post
from tests.town.town import Engine

_reports = query(select(reports), Report)
_names = iter(f"ada{number}" for number in range(1000))


@pytest.fixture(scope="module")
async def lane(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Street]:
    async with street(engine, tmp_path_factory.mktemp("lane")) as made:
        yield made


@pytest.fixture
def ada(lane: Street) -> RemotePerson:
    return lane.there.person(next(_names), key=0)


def error_of(answer: httpx.Response) -> str:
    assert answer.headers["content-type"].startswith("application/json")
    return str(answer.json()["error"])


@pytest.mark.parametrize("scheme", SigningScheme)
@pytest.mark.parametrize("shared", [True, False])
async def test_a_follow_arrives_however_it_is_signed(
    lane: Street, ada: RemotePerson, scheme: SigningScheme, shared: bool
) -> None:
    bob = await join(lane.here)

    await lane.sends(ada, ada.activity("Follow", bob.me["uri"]), to=None if shared else bob, scheme=scheme)

    account = await lane.account_of(ada)
    assert (await bob.sees(account))["followed_by"]
    assert await notices(bob) == [("follow", str(account.id), None)]


async def test_a_like_is_counted_once_however_often_it_is_sent(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    said = await post(bob)
    like = ada.activity("Like", said["uri"])

    for _ in range(3):
        await lane.sends(ada, like)

    shown = await bob.get(f"/api/v1/statuses/{said['id']}")
    assert shown["favourites_count"] == 1
    assert [kind for kind, _, _ in await notices(bob)] == ["favourite"]


# What is not believed


async def test_without_a_signature_nothing_is_taken(lane: Street, ada: RemotePerson) -> None:
    answer = await lane.says(ada, ada.activity("Follow", ada.uri), headers={"Signature": ""})

    assert (answer.status_code, error_of(answer)) == (401, "Request not signed")


CHANGED: dict[str, dict[str, str]] = {
    "another digest": {"Digest": "SHA-256=" + "A" * 43 + "="},
    "no digest": {"Digest": ""},
    "another host": {"Host": "elsewhere.example"},
    "another date": {"Date": "Tue, 05 Mar 2024 10:00:00 GMT"},
    "a date in no language": {"Date": "yesterday"},
}


@pytest.mark.parametrize("name", CHANGED)
async def test_a_request_that_was_changed_is_refused(lane: Street, ada: RemotePerson, name: str) -> None:
    answer = await lane.says(ada, ada.activity("Follow", ada.uri), headers=CHANGED[name])

    assert answer.status_code == 401
    assert error_of(answer)
    assert ada.uri.removeprefix(lane.there.url) not in lane.there.asked  # nothing was fetched for it


async def test_another_body_than_the_signed_one_is_refused(lane: Street, ada: RemotePerson) -> None:
    url, body = lane.inbox, msgspec.json.encode(ada.activity("Follow", ada.uri))
    headers = ada.signed("POST", url, body)

    answer = await lane.there.http.post(url, content=body.replace(b"Follow", b"Block"), headers=headers)

    assert answer.status_code == 401
    assert "Digest" in error_of(answer)


@pytest.mark.parametrize("hours", [-3, 2])
async def test_a_request_of_another_time_is_refused(lane: Street, ada: RemotePerson, hours: int) -> None:
    at = datetime.now(UTC) + timedelta(hours=hours)

    answer = await lane.says(ada, ada.activity("Follow", ada.uri), at=at)

    assert answer.status_code == 401
    assert "time window" in error_of(answer)


async def test_an_unknown_algorithm_is_refused(lane: Street, ada: RemotePerson) -> None:
    body = msgspec.json.encode(ada.activity("Follow", ada.uri))
    headers = ada.signed("POST", lane.inbox, body)
    headers["signature"] = headers["signature"].replace("rsa-sha256", "hmac-sha256")

    answer = await lane.there.http.post(lane.inbox, content=body, headers=headers)

    assert answer.status_code == 401
    assert "algorithm" in error_of(answer)


async def test_a_request_for_another_path_is_refused(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    body = msgspec.json.encode(ada.activity("Follow", bob.me["uri"]))

    answer = await lane.there.http.post(lane.inbox_of(bob), content=body, headers=ada.signed("POST", lane.inbox, body))

    assert answer.status_code == 401


async def test_what_is_not_an_activity_by_its_type_is_refused(lane: Street, ada: RemotePerson) -> None:
    body = msgspec.json.encode(ada.activity("Follow", ada.uri))
    for kind in ("text/plain", "application/json", 'application/ld+json; profile="https://example.org/other"', ""):
        headers = ada.signed("POST", lane.inbox, body) | {"content-type": kind}
        assert (await lane.there.http.post(lane.inbox, content=body, headers=headers)).status_code == 400


@pytest.mark.parametrize("kind", [f'application/ld+json; profile="{AS}"', "application/ld+json"])
async def test_linked_data_with_the_right_profile_or_none_is_taken(lane: Street, ada: RemotePerson, kind: str) -> None:
    body = msgspec.json.encode(ada.activity("Follow", ada.uri))
    headers = ada.signed("POST", lane.inbox, body, scheme=SigningScheme.RFC9421) | {"content-type": kind}

    assert (await lane.there.http.post(lane.inbox, content=body, headers=headers)).status_code == 202


NO_ACTIVITY: dict[str, bytes] = {
    "no JSON": b"{",
    "a list": b"[]",
    "too deep": b'{"a":' * 40 + b"1" + b"}" * 40,
    "very deep": b"[" * 100_000,
    "not UTF-8": b'{"a":"\xff"}',
    "zipped": gzip.compress(b"{}"),
}


@pytest.mark.parametrize("name", NO_ACTIVITY)
async def test_what_cannot_be_read_is_refused(lane: Street, ada: RemotePerson, name: str) -> None:
    answer = await lane.says(ada, NO_ACTIVITY[name])

    assert answer.status_code == 400
    assert error_of(answer)


async def test_too_large_a_body_is_refused_before_it_is_read(lane: Street, ada: RemotePerson) -> None:
    answer = await lane.says(ada, ada.activity("Follow", ada.uri, content="x" * (1 << 20)))

    assert answer.status_code == 413
    assert ada.uri.removeprefix(lane.there.url) not in lane.there.asked


@pytest.mark.parametrize(
    "changes", [{"type": "Dance"}, {"type": None}, {"type": ["Follow", "Dance"]}, {"object": 7}, {"object": None}]
)
async def test_what_nobody_understands_is_taken_and_left_alone(
    lane: Street, ada: RemotePerson, changes: dict[str, Any]
) -> None:
    await lane.sends(ada, ada.activity("Follow", lane.here.base_url) | changes)


# Keys


async def test_a_key_that_is_not_there_is_not_believed(lane: Street, ada: RemotePerson) -> None:
    missing = Signer(f"{lane.there.url}/users/nobody#main-key", ada.key)
    foreign = Signer(f"{ada.uri}#other-key", ada.key)

    for signer in (missing, foreign):
        answer = await lane.says(ada, ada.activity("Follow", ada.uri), signer=signer)
        assert (answer.status_code, error_of(answer)) == (401, f"Public key not found for key {signer.key_id}")


async def test_an_actor_with_one_key_signs_in_its_own_name(lane: Street, ada: RemotePerson) -> None:
    bob, signer = await join(lane.here), Signer(ada.uri, ada.key)

    await lane.sends(ada, ada.activity("Follow", bob.me["uri"]), signer=signer)
    assert (await bob.sees(await lane.account_of(ada)))["followed_by"]

    ada.change_key(4)
    await lane.sends(ada, ada.activity("Like", lane.here.base_url), signer=Signer(ada.uri, ada.key))
    answer = await lane.says(ada, ada.activity("Like", lane.here.base_url), signer=Signer(ada.uri, private_key(5)))
    assert answer.status_code == 401


@pytest.mark.parametrize("case", ["two keys", "a key elsewhere", "a key beside", "no key", "a neighbour's"])
@pytest.mark.parametrize("known", [False, True])
async def test_the_name_of_an_actor_is_the_name_of_no_other_key(
    lane: Street, ada: RemotePerson, case: str, known: bool
) -> None:
    """Nor where the actor is known already and only its address is told."""
    own, eve = ada.document["publicKey"], lane.there.person(next(_names), key=3)
    aside = own | {"id": f"{ada.uri}/main-key"}
    ada.document["publicKey"] = {
        "two keys": [own, own | {"id": f"{ada.uri}#second"}],
        "a key elsewhere": [
            own,
            lane.there.serves(f"/users/{ada.name}/other-key", aside | {"id": f"{ada.uri}/other-key"}),
        ],
        "a key beside": aside,
        "no key": None,
        "a neighbour's": own | {"owner": eve.uri},
    }[case]
    ada.document["assertionMethod"] = []
    if known:
        name = f"{ada.uri}#second" if case == "two keys" else f"{ada.uri}/main-key"
        await lane.says(ada, ada.activity("Like", ada.uri), signer=Signer(name, ada.key))

    answer = await lane.says(ada, ada.activity("Like", ada.uri), signer=Signer(ada.uri, ada.key))

    assert answer.status_code == 401
    assert error_of(answer) == f"Public key not found for key {ada.uri}"


async def test_a_key_whose_server_is_away_is_asked_for_later(lane: Street) -> None:
    eve = lane.gone.person("eve")
    lane.gone.serves("/users/eve", b"", status=503)

    for _ in range(2):
        answer = await lane.says(eve, eve.activity("Follow", eve.uri))
        assert answer.status_code == 503
        assert error_of(answer).startswith("Failed to fetch remote data")

    assert lane.gone.asked.count("/users/eve") == 1


async def test_a_new_key_is_learnt_but_not_over_and_over(lane: Street, ada: RemotePerson) -> None:
    path, like = f"/users/{ada.name}", ada.activity("Like", lane.here.base_url)
    await lane.sends(ada, like)
    ada.change_key(1)
    await lane.sends(ada, like)
    asked = lane.there.asked.count(path)
    ada.change_key(2)

    for _ in range(3):
        answer = await lane.says(ada, like)
        assert answer.status_code == 401
        assert error_of(answer).startswith("Verification failed for")

    assert lane.there.asked.count(path) == asked


async def test_nobody_signs_for_somebody_else(lane: Street, ada: RemotePerson) -> None:
    bob, eve = await join(lane.here), lane.there.person(next(_names), key=3)
    await lane.sends(ada, ada.activity("Follow", bob.me["uri"]))
    forged = ada.activity("Undo", {"type": "Follow", "actor": ada.uri, "object": bob.me["uri"]})

    await lane.sends(eve, forged)
    answer = await lane.says(ada, forged, signer=Signer(ada.key_id, private_key(3)))

    assert answer.status_code == 401
    assert (await bob.sees(await lane.account_of(ada)))["followed_by"]


async def test_nobody_here_writes_from_elsewhere(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    signer = Signer(f"{bob.me['uri']}#main-key", ada.key)

    assert (await lane.says(ada, ada.activity("Follow", bob.me["uri"]), signer=signer)).status_code == 401


async def test_the_farewell_of_a_stranger_is_taken_without_a_word(lane: Street, ada: RemotePerson) -> None:
    ada.home.serves(f"/users/{ada.name}", b"", status=410)

    await lane.sends(ada, ada.activity("Delete", ada.uri))
    answer = await lane.says(ada, ada.activity("Delete", f"{ada.uri}/statuses/1"))

    assert answer.status_code == 401


# Whose inbox


async def test_an_inbox_of_nobody_is_not_there(lane: Street, ada: RemotePerson) -> None:
    url = f"{lane.here.base_url}/users/nobody/inbox"

    assert (await ada.post(url, ada.activity("Like", url))).status_code == 404
    assert (await lane.there.http.get(lane.inbox)).status_code == 405


# What others pass on


async def test_what_is_passed_on_is_fetched_where_it_is_at_home(lane: Street, ada: RemotePerson) -> None:
    bob, eve = await join(lane.here), lane.away.person(next(_names), key=3)
    said = await post(bob)
    reply = eve.note("r1", "My own words", inReplyTo=said["uri"])
    forged = eve.create(reply | {"content": "<p>Never said</p>"})

    await lane.sends(ada, forged)

    [shown] = (await bob.get(f"/api/v1/statuses/{said['id']}/context"))["descendants"]
    assert "My own words" in shown["content"]
    assert shown["account"]["acct"] == eve.handle


async def test_what_is_passed_on_and_concerns_nobody_here_is_not_fetched(lane: Street, ada: RemotePerson) -> None:
    eve = lane.away.person(next(_names), key=3)
    note = eve.note("r1", inReplyTo="https://elsewhere.example/1")

    await lane.sends(ada, eve.create(note))

    assert f"/users/{eve.name}/statuses/r1" not in lane.away.asked


@pytest.mark.parametrize("place", ["inbox", "claim"])
async def test_whoever_is_not_believed_over_and_over_is_not_heard_for_a_while(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory, place: str
) -> None:
    async with street(engine, tmp_path_factory.mktemp("flood"), rate_limits="on") as lane:
        ada, bob = lane.there.person("ada"), await join(lane.here)
        like = ada.activity("Like", bob.me["uri"])
        for _ in range(3):
            await lane.sends(ada, like)  # whoever is believed is not counted
        left, refused = iter(range(2 * UNBELIEVED.most + 1)), list[httpx.Response]()  # a window may end meanwhile
        at = lane.inbox if place == "inbox" else f"{bob.me['uri']}/claim?id=1"

        async def knock() -> None:
            while not refused and next(left, None) is not None:
                answer = await lane.there.http.post(at, content=b"{}", headers={"content-type": ACTIVITY})
                # 401 until the limit is reached, which ends the loop.
                assert answer.status_code in (401, 429)
                refused.extend([answer] if answer.status_code == 429 else [])

        await asyncio.gather(*(knock() for _ in range(16)))
        assert int(refused[0].headers["retry-after"]) >= 1


async def test_the_team_is_not_buried_under_reports_of_one_server(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    async with street(engine, tmp_path_factory.mktemp("reports"), rate_limits="on") as lane:
        ada, eve = lane.there.person("ada"), lane.away.person("eve", key=3)
        bob = await join(lane.here)
        for count in range(2 * REPORTS_FROM_HOST.most + 1):  # a window may end meanwhile
            flag = ada.activity("Flag", [bob.me["uri"]], content=f"Spam {count}")
            assert (await lane.says(ada, flag)).status_code == 202
        await lane.sends(eve, eve.activity("Flag", [bob.me["uri"]], content="Really spam"))

        made = [one.comment for one in await lane.every(_reports)]
        assert "Really spam" in made
        assert REPORTS_FROM_HOST.most <= len(made) - 1 <= 2 * REPORTS_FROM_HOST.most


async def test_what_has_ended_is_remembered_however_long_its_name_is(lane: Street) -> None:
    """No database has an index for names without an end."""
    rest = secrets.token_hex(1010)
    uri, actor = f"https://a.example/{rest}", f"https://a.example/@{rest}"

    async with lane.here.house() as house, house.works.begin() as work:
        await ended.remember(work.db, uri, actor, work.now)
        assert await ended.is_ended(work.db, uri, actor, work.now)
        assert not await ended.is_ended(work.db, f"{uri}0", actor, work.now)
        assert await ended.ended_at(work.db, uri, actor) == work.now
        await ended.forget_of(work.db, actor)
        assert not await ended.is_ended(work.db, uri, actor, work.now)


def test_no_job_is_blamed_for_the_end_of_its_process() -> None:
    """What others were told of, and what was accepted from them, is done however often the server was killed."""
    kinds = [kind for room in ROOMS for kind in room.jobs if kind.name.startswith(("federation_", "statuses.posted"))]

    assert [kind.name for kind in kinds if not kind.is_harmless] == []
    assert len(kinds) > 40


async def test_what_could_not_be_done_for_a_week_is_given_up(lane: Street) -> None:
    async with lane.here.house() as house:
        async with house.works.begin() as work:
            old = work.now - tasks.KEPT - timedelta(hours=1)
            ids = [id_at(old, 7), work.new_id()]
            await store.add(
                work.db,
                [Received(id, AccountId(1), f"given up {id}", AccountId(0), "{}", None, ALONE, old, old) for id in ids],
            )
        async with house.works.begin() as work:
            await tasks.sweep(work, tasks.SweepInbox())
        async with house.works.begin() as work:
            assert [await store.find(work.db, id) is not None for id in ids] == [False, True]
            await store.drop(work.db, ids)
