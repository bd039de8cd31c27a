"""Encrypted messages between devices on two servers."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kith.base.keys import Keys
from kith.social.encryption.franking import open_seal
from tests.federation.inbox_street import Street, street
from tests.social.members import Member, until
from tests.social.test_encryption import KEYS, new_phones
from tests.town import Town, build_town
from tests.town.town import Engine


@pytest.fixture(scope="module")
async def towns(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Town, Town]]:
    folder = tmp_path_factory.mktemp("towns")
    async with (
        build_town(engine, folder / "one", start=False) as one,
        build_town(engine, folder / "other", start=False) as other,
    ):
        for town in (one, other):
            town.change(private_hosts=f"127.0.0.1:{one.port},127.0.0.1:{other.port}")
            await town.start()
        yield one, other


async def known_there(who: Member, to: Member) -> str:
    """The id that somebody has at another server."""
    handle = f"@{who.name}@{who.town.base_url.removeprefix('http://')}"
    found = await to.get("/api/v2/search", params={"q": handle, "resolve": "true", "type": "accounts"})
    [account] = found["accounts"]
    return str(account["id"])


async def test_two_devices_on_two_servers_write_to_each_other(towns: tuple[Town, Town]) -> None:
    here, there = towns
    [ada], [bob] = await new_phones(here, 1), await new_phones(there, 1)
    await ada.upload()
    await bob.upload("k1")
    bob_here = await known_there(bob.member, ada.member)

    [found] = await ada.member.post(f"{KEYS}/query", json={"id": [bob_here]})
    assert found == {"account_id": bob_here, "devices": [bob.about]}
    target = {"account_id": bob_here, "device_id": bob.about["device_id"]}
    [claimed] = await ada.member.post(f"{KEYS}/claim", json={"device": [target]})
    assert (claimed["key_id"], claimed["account_id"]) == ("k1", bob_here)
    assert await bob.left() == 0
    assert await ada.member.post(f"{KEYS}/claim", json={"device": [target]}) == []
    sent = target | {"type": 1, "body": "sealed words", "hmac": "d1"}
    await ada.member.post("/api/v1/crypto/deliveries", json={"device": [sent]})

    async def has_come() -> bool:
        return bool(await bob.inbox())

    await until(has_come)
    [message] = await bob.inbox()
    assert (message["body"], message["digest"], message["type"]) == ("sealed words", "d1", 1)
    assert message["device_id"] == ada.about["device_id"]
    assert message["account_id"] == await known_there(ada.member, bob.member)
    async with there.house() as house, house.works.begin() as work:
        seal = open_seal(house.find(Keys).encryption, message["message_franking"], work.now)
    assert seal is not None
    async with here.house() as house, house.works.begin() as work:
        original = open_seal(house.find(Keys).encryption, seal.original_franking or "", work.now)
    assert original is not None
    assert (original.hmac, original.source_account_id) == ("d1", int(ada.member.id))


async def test_devices_are_shown_and_keys_given_to_whoever_signs(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    async with street(engine, tmp_path_factory.mktemp("lane")) as lane:
        await _ask_for_devices(lane)


async def _ask_for_devices(lane: Street) -> None:
    [bob] = await new_phones(lane.here, 1)
    await bob.upload("k1", "k2")
    ada = lane.there.person("ada")
    place = f"{bob.member.me['uri']}/collections/devices"
    claim = f"{bob.member.me['uri']}/claim?id={bob.about['device_id']}"

    assert (await lane.there.http.get(place, headers={"accept": "application/activity+json"})).status_code == 401
    [shown] = (await ada.get(place)).json()["items"]
    assert (shown["deviceId"], shown["claim"]) == (bob.about["device_id"], claim)
    assert (await lane.there.http.post(claim)).status_code == 401
    given = (await ada.post(claim, b"")).json()
    assert given["keyId"] in ("k1", "k2")
    assert await bob.left() == 1

    await bob.member.post("/api/v1/domain_blocks", json={"domain": lane.there.domain})
    assert (await ada.get(place)).json()["items"] == []
    await bob.member.call("DELETE", "/api/v1/domain_blocks", json={"domain": lane.there.domain})
    assert len((await ada.get(place)).json()["items"]) == 1
    await bob.member.to(await lane.account_of(ada), "block")
    assert (await ada.get(place)).json()["items"] == []
    assert (await ada.post(claim, b"")).status_code == 404
