"""End-to-end encrypted messages: keys of devices, each given out once, and inboxes that only their device reads."""

from __future__ import annotations

import asyncio
import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import bindparam, update

from kith.base.db import UID, Instant, command
from kith.base.errors import Throttled
from kith.identity.tokens.tables import tokens
from kith.social.encryption import service
from kith.social.encryption.franking import Franking, open_seal, seal
from kith.social.encryption.keys import decode, is_key, is_signature_of
from kith.social.encryption.service import MessageDelivery, Target, deliver_from_elsewhere
from kith.social.encryption.shares import CLAIMS_OF_SITE, MOST_OF_SENDER, MOST_OF_SITE
from tests.cli.running import kith
from tests.social.members import Member, stranger, strangers
from tests.social.shapes import check, entity
from tests.social.tokens import new_app
from tests.town import Person, Town, build_town
from tests.town.town import Engine

_RUN_OUT = command(
    update(tokens)
    .where(tokens.c.token_uuid == bindparam("token", type_=UID()))
    .values(expires_at=bindparam("now", type_=Instant()))
)
KEYS = "/api/v1/crypto/keys"
INBOX = "/api/v1/crypto/encrypted_messages"
SCOPES = "read write follow crypto"
DEVICE = entity("Device")
CLAIMED = entity("ClaimedKey")
MESSAGE = entity("EncryptedMessage")


def b64(raw: bytes) -> str:
    return base64.b64encode(raw).rstrip(b"=").decode()


class Phone:
    """A device with its own keys, as an app would keep them."""

    def __init__(self, member: Member, name: str = "phone") -> None:
        self.member = member
        self._signing = Ed25519PrivateKey.generate()
        self.about = {
            "device_id": name,
            "name": f"My {name}",
            "fingerprint_key": b64(self._signing.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)),
            "identity_key": new_key(),
        }

    def one_time_keys(self, *names: str) -> list[dict[str, str]]:
        found = []
        for name in names:
            key = new_key()
            found.append({"key_id": name, "key": key, "signature": b64(self._signing.sign(key.encode()))})
        return found

    async def upload(self, *names: str, **changed: Any) -> dict[str, Any]:
        sent = {"device": self.about | changed, "one_time_keys": self.one_time_keys(*names)}
        made = await self.member.post(f"{KEYS}/upload", json=sent)
        check(made, DEVICE)
        return dict(made)

    async def left(self) -> int:
        return int((await self.member.get(f"{KEYS}/count"))["one_time_keys"])

    async def send(self, *phones: Phone, body: str = "sealed") -> None:
        devices = [
            {"account_id": one.member.id, "device_id": one.about["device_id"], "type": 0, "body": body, "hmac": "d1"}
            for one in phones
        ]
        assert await self.member.post("/api/v1/crypto/deliveries", json={"device": devices}) == {}

    async def inbox(self, **query: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self.member.get(INBOX, params=query)
        check(found, [MESSAGE])
        return found

    @property
    def named(self) -> dict[str, str]:
        return {"account_id": self.member.id, "device_id": self.about["device_id"]}


def new_key() -> str:
    return b64(X25519PrivateKey.generate().public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))


async def new_phones(town: Town, count: int) -> list[Phone]:
    app = await new_app(town, SCOPES)
    phones = []
    for _ in range(count):
        person = await town.sign_up()
        phones.append(await phone_of(town, person, await app.token_of(person, SCOPES)))
    return phones


async def phone_of(town: Town, _person: Person, token: str, name: str = "phone") -> Phone:
    member = Member(town, token)
    await member.refreshed()
    return Phone(member, name)


async def refusal(member: Member, path: str, sent: dict[str, Any]) -> tuple[int, str]:
    answer = await member.call("POST", path, json=sent)
    return answer.status_code, answer.json()["error"]


async def test_two_devices_find_each_other_and_write(town: Town) -> None:
    ada, bob = await new_phones(town, 2)
    await ada.upload()
    assert await bob.upload("a", "b") == bob.about

    [found] = await ada.member.post(f"{KEYS}/query", json={"id": [bob.member.id]})
    assert found == {"account_id": bob.member.id, "devices": [bob.about]}
    [claimed] = await ada.member.post(f"{KEYS}/claim", json={"device": [bob.named]})
    check(claimed, CLAIMED)
    assert claimed["key_id"] in ("a", "b")
    assert await bob.left() == 1
    await ada.send(bob, body="hello")
    await ada.send(bob, body="again")

    newer, older = await bob.inbox()
    assert (older["body"], older["digest"], older["type"]) == ("hello", "d1", 0)
    assert (older["account_id"], older["device_id"]) == (ada.member.id, "phone")
    assert [one["body"] for one in await bob.inbox(min_id=older["id"])] == ["again"]
    assert [one["body"] for one in await bob.inbox(limit=1)] == ["again"]
    assert await ada.inbox() == []
    assert await bob.member.post(f"{INBOX}/clear", json={"up_to_id": older["id"]}) == {}
    assert await bob.inbox() == [newer]


async def test_a_one_time_key_is_given_out_once(town: Town) -> None:
    ada, bob = await new_phones(town, 2)
    await ada.upload()
    await bob.upload(*(f"key {number}" for number in range(40)))

    async def claim() -> list[str]:
        found = await ada.member.post(f"{KEYS}/claim", json={"device": [bob.named]})
        return [one["key_id"] for one in found]

    answers = await asyncio.gather(*(claim() for _ in range(200)))

    given_out = [key_id for found in answers for key_id in found]
    assert len(given_out) == len(set(given_out)) == 40
    assert await bob.left() == 0


async def test_a_device_must_have_handed_in_its_keys(town: Town) -> None:
    [ada] = await new_phones(town, 1)
    for method, path in (("GET", f"{KEYS}/count"), ("GET", INBOX)):
        answer = await ada.member.call(method, path)
        assert (answer.status_code, answer.json()["error"]) == (404, "Record not found")
    for path in (f"{KEYS}/claim", "/api/v1/crypto/deliveries"):
        assert await refusal(ada.member, path, {"device": [ada.named]}) == (404, "Record not found")
    assert await refusal(ada.member, f"{INBOX}/clear", {"up_to_id": "1"}) == (404, "Record not found")


async def test_keys_that_are_none_are_refused(town: Town) -> None:
    ada, bob = await new_phones(town, 2)
    good = ada.one_time_keys("a")[0]
    no_key = "is not a valid Ed25519 or Curve25519 key"
    cases: list[tuple[dict[str, Any], list[dict[str, str]], str]] = [
        ({"fingerprint_key": "AAAA"}, [], f"Fingerprint key {no_key}"),
        ({"identity_key": "not base64!" * 4}, [], f"Identity key {no_key}"),
        ({"device_id": ""}, [], "Device can't be blank"),
        ({"name": "x" * 256}, [], "Name is too long (maximum is 255 characters)"),
        ({}, [good | {"key": "AAAA"}], f"Key {no_key}, Signature is not a valid Ed25519 signature"),
        ({}, bob.one_time_keys("a"), "Signature is not a valid Ed25519 signature"),
        ({}, [good | {"key_id": ""}], "Key can't be blank"),
    ]
    for changed, keys, words in cases:
        sent = {"device": ada.about | changed, "one_time_keys": keys}
        assert await refusal(ada.member, f"{KEYS}/upload", sent) == (422, f"Validation failed: {words}")
    assert await ada.member.post(f"{KEYS}/query", json={"id": [ada.member.id]}) == [
        {"account_id": ada.member.id, "devices": []}
    ]
    missing = "param is missing or the value is empty or invalid"
    for path, name in ((f"{KEYS}/upload", "device"), (f"{KEYS}/query", "id")):
        assert await refusal(ada.member, path, {}) == (400, f"{missing}: {name}")
    await ada.upload()
    for path in (f"{KEYS}/claim", "/api/v1/crypto/deliveries"):
        assert (await refusal(ada.member, path, {}))[0] == 400
    body = ada.named | {"type": 0, "body": "x" * 32_769, "hmac": "d"}
    assert await refusal(ada.member, "/api/v1/crypto/deliveries", {"device": [body]}) == (
        422,
        "Validation failed: Body is too long (maximum is 32768 characters)",
    )


async def test_other_keys_make_another_device_and_a_new_name_does_not(town: Town) -> None:
    ada, bob = await new_phones(town, 2)
    await ada.upload()
    await bob.upload("a")
    await ada.send(bob)

    assert (await bob.upload(name="Renamed"))["name"] == "Renamed"
    assert (await bob.left(), len(await bob.inbox())) == (1, 1)
    await bob.upload(identity_key=new_key())
    assert (await bob.left(), await bob.inbox()) == (0, [])


async def test_there_is_a_most_of_keys(town: Town) -> None:
    [ada] = await new_phones(town, 1)
    await ada.upload(*(f"{number}" for number in range(150)))
    sent = {"device": ada.about, "one_time_keys": ada.one_time_keys(*(f"more {number}" for number in range(51)))}
    status, words = await refusal(ada.member, f"{KEYS}/upload", sent)
    assert (status, words) == (422, "Validation failed: One time keys are limited to 200 for a device")
    assert await ada.left() == 150
    same = {"device": ada.about, "one_time_keys": ada.one_time_keys(*(f"{number}" for number in range(150)))}
    assert (await ada.member.call("POST", f"{KEYS}/upload", json=same)).status_code == 200, (
        "said again after a lost answer"
    )
    assert await ada.left() == 150


async def test_one_sender_does_not_fill_an_inbox(town: Town) -> None:
    ada, bob, carol = await new_phones(town, 3)
    for phone in (ada, bob, carol):
        await phone.upload()
    for _ in range(MOST_OF_SENDER // 50):
        await bob.send(*[ada] * 50)

    over = {**ada.named, "type": 0, "body": "one too many", "hmac": "d1"}
    assert (await refusal(bob.member, "/api/v1/crypto/deliveries", {"device": [over]}))[0] == 422
    await carol.send(ada)
    assert (await ada.inbox())[0]["account_id"] in (bob.member.id, carol.member.id)


async def test_one_server_does_not_fill_an_inbox_by_many_names(town: Town) -> None:
    [ada] = await new_phones(town, 1)
    await ada.upload()
    many = await strangers(town, 3, "a.crowd.example") + await strangers(town, 2, "b.crowd.example")
    [other] = await strangers(town, 1, "other.example")
    message = MessageDelivery(account_id=int(ada.member.id), device_id="phone", body="sealed", hmac="d1")

    async with town.house() as house, house.works.begin() as work:
        taken = [
            await deliver_from_elsewhere(work, many[number % 5], "theirs", message, None)
            for number in range(MOST_OF_SITE + 5)
        ]
        assert taken == [True] * MOST_OF_SITE + [False] * 5
        assert await deliver_from_elsewhere(work, other, "theirs", message, None)


async def test_nobody_takes_all_keys_of_a_device(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> None:
    async with build_town(engine, tmp_path_factory.mktemp("limited"), rate_limits="on") as town:
        ada, bob, carol = await new_phones(town, 3)
        await ada.upload(*(f"k{number}" for number in range(100)))
        for phone in (bob, carol):
            await phone.upload()
        claim = {"device": [ada.named] * 50}
        assert (await refusal(bob.member, f"{KEYS}/claim", claim))[0] == 429
        assert len(await carol.member.post(f"{KEYS}/claim", json={"device": [ada.named] * 20})) == 20
        assert await ada.left() == 80

        target = [Target(account_id=int(ada.member.id), device_id="phone")]
        far = [await stranger(town, f"{name}.crowd.example") for name in "abcd"]
        taken = refused = 0
        async with town.house() as house, house.works.begin() as work:
            for number in range(CLAIMS_OF_SITE.most + 8):
                try:
                    taken += len(await service.claim(work, far[number % 4].id, target))
                except Throttled:
                    refused += 1
        assert (taken, refused) == (CLAIMS_OF_SITE.most, 8)


async def test_nothing_passes_a_block_in_either_direction(town: Town) -> None:
    ada, bob = await new_phones(town, 2)
    await ada.upload("a")
    await bob.upload("a")
    await ada.member.to(bob.member, "block")
    for one, other in ((ada, bob), (bob, ada)):
        [found] = await one.member.post(f"{KEYS}/query", json={"id": [other.member.id]})
        assert found["devices"] == []
        assert await one.member.post(f"{KEYS}/claim", json={"device": [other.named]}) == []
        message = other.named | {"type": 0, "body": "b", "hmac": "d"}
        assert (await refusal(one.member, "/api/v1/crypto/deliveries", {"device": [message]}))[0] == 404
    assert await bob.left() == 1


async def test_some_of_many_deliveries_unknown_means_none_is_made(town: Town) -> None:
    ada, bob = await new_phones(town, 2)
    await ada.upload()
    await bob.upload()
    known = bob.named | {"type": 1, "body": "b", "hmac": "d"}
    sent = {"device": [known, known | {"device_id": "toaster"}]}
    assert (await refusal(ada.member, "/api/v1/crypto/deliveries", sent))[0] == 404
    assert await bob.inbox() == []


async def test_a_device_ends_with_its_token(town: Town) -> None:
    app = await new_app(town, SCOPES)
    person = await town.sign_up()
    [ada] = await new_phones(town, 1)
    first, second = [
        await phone_of(town, person, await app.token_of(person, SCOPES), name) for name in ("phone", "tablet")
    ]
    for phone in (ada, first, second):
        await phone.upload()

    async def devices() -> list[str]:
        [found] = await ada.member.post(f"{KEYS}/query", json={"id": [first.member.id]})
        return [one["device_id"] for one in found["devices"]]

    assert await devices() == ["phone", "tablet"]
    form = {"client_id": app.client_id, "client_secret": app.secret, "token": first.member.token}
    assert (await town.http.post("/oauth/revoke", data=form)).status_code == 200
    assert await devices() == ["tablet"]


async def test_a_device_whose_token_has_run_out_gets_nothing(town: Town) -> None:
    [ada] = await new_phones(town, 1)
    person = await town.sign_up()
    made = await town.kith("tokens", "create", person.username, "--scopes", "read crypto", "--expires", "1", "--json")
    key, token_uuid = json.loads(made)["token"], json.loads(made)["id"]
    phone = await phone_of(town, person, key)
    await ada.upload()
    await phone.upload("a")
    await ada.send(phone)

    async with town.house() as house, house.works.begin() as work:
        ended = {"now": work.now - timedelta(minutes=1), "token": token_uuid}
        await work.db.run(_RUN_OUT, **ended)

    [found] = await ada.member.post(f"{KEYS}/query", json={"id": [phone.member.id]})
    assert found["devices"] == []
    assert await ada.member.post(f"{KEYS}/claim", json={"device": [phone.named]}) == []
    message = phone.named | {"type": 0, "body": "b", "hmac": "d"}
    assert (await refusal(ada.member, "/api/v1/crypto/deliveries", {"device": [message]}))[0] == 404


async def test_deliveries_to_the_same_devices_at_once_wait_for_each_other_in_one_order(town: Town) -> None:
    ada, bob, eve = await new_phones(town, 3)
    for phone in (ada, bob, eve):
        await phone.upload()
    await asyncio.gather(*(ada.send(*order) for order in [(bob, eve), (eve, bob)] * 10))
    assert len(await bob.inbox()) == len(await eve.inbox()) == 20


async def test_the_server_alone_opens_what_it_said_of_a_message(town: Town) -> None:
    ada, bob = await new_phones(town, 2)
    await ada.upload()
    await bob.upload()
    await ada.send(bob)
    [message] = await bob.inbox()

    told = await kith(town, "franking", message["message_franking"], "--json")
    assert told.json["from"] == f"@{ada.member.name}"
    assert told.json["to"] == f"@{bob.member.name}"
    assert told.json["digest"] == message["digest"]
    for wrong in ("AAAA", message["message_franking"][:-4] + "AAAA", "not base64"):
        assert (await kith(town, "franking", wrong)).code != 0
    assert ada.member.id not in base64.urlsafe_b64decode(message["message_franking"] + "===").decode("latin-1")


async def test_the_scope_is_needed(town: Town) -> None:
    app, person = await new_app(town, SCOPES), await town.sign_up()
    member = Member(town, await app.token_of(person, "read write"))
    assert (await member.call("GET", f"{KEYS}/count")).status_code == 403


NOW = datetime(2026, 3, 3, tzinfo=UTC)
SAID = Franking(hmac="d", source_account_id=1, target_account_id=2, timestamp=NOW)


@pytest.mark.parametrize(("later", "opens"), [(0, True), (7, True), (21, True), (30, False), (-8, False)])
def test_a_seal_can_be_opened_for_three_weeks(later: int, opens: bool) -> None:
    text = seal(b"s" * 32, SAID, NOW)
    assert (open_seal(b"s" * 32, text, NOW + timedelta(days=later)) == SAID) is opens
    assert open_seal(b"t" * 32, text, NOW) is None


@given(st.text(max_size=300))
def test_whatever_is_no_seal_is_not_opened(text: str) -> None:
    assert open_seal(b"s" * 32, text, NOW) is None


@given(st.one_of(st.text(max_size=120), st.binary(max_size=80).map(b64)))
def test_keys_and_signatures_are_told_from_anything_else(text: str) -> None:
    raw = decode(text)
    assert is_key(text) is (raw is not None and len(raw) == 32)
    assert not is_signature_of(text, json.dumps(text), by=new_key())
