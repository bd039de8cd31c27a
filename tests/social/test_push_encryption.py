"""Keys, messages and their encryption, each by itself."""

from __future__ import annotations

import asyncio
import json
import secrets
from datetime import UTC, datetime, timedelta

import http_ece
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from kith.base import vapid
from kith.base.http import PrivateHosts
from kith.social.notifications.service import TYPES
from kith.social.notifications.titles import TITLES, title_of
from kith.social.push import keys
from kith.social.push.encryption import MOST_BYTES, encrypt, encrypt_legacy
from kith.social.push.message import PushMessage, fit
from kith.social.push.sending import LONGEST_WAIT, PushOutcome, _verdict
from kith.social.push.slots import PER_ACCOUNT, PER_HOST, Busy, Slots
from tests.social.push_service import decoded

KEY = ec.generate_private_key(ec.SECP256R1())
POINT = KEY.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
AUTH = secrets.token_bytes(16)
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@given(st.binary(max_size=MOST_BYTES))
def test_another_library_reads_what_is_encrypted(text: bytes) -> None:
    made = encrypt(text, POINT, AUTH)
    assert len(made.body) <= 4096
    assert http_ece.decrypt(made.body, private_key=KEY, auth_secret=AUTH, version="aes128gcm") == text

    old = encrypt_legacy(text, POINT, AUTH)
    salt, dh = old.headers["Encryption"].removeprefix("salt="), old.headers["Crypto-Key"].removeprefix("dh=")
    options = {"salt": decoded(salt), "dh": decoded(dh), "private_key": KEY, "auth_secret": AUTH}
    assert len(old.body) <= 4096
    assert http_ece.decrypt(old.body, version="aesgcm", **options) == text


def test_the_largest_message_is_as_large_as_a_push_service_must_take() -> None:
    assert len(encrypt(b"x" * MOST_BYTES, POINT, AUTH).body) == 4096
    for make in (encrypt, encrypt_legacy):
        with pytest.raises(ValueError, match="too large"):
            make(b"x" * (MOST_BYTES + 1), POINT, AUTH)


def test_every_message_has_keys_of_its_own() -> None:
    assert encrypt(b"a", POINT, AUTH).body[:86] != encrypt(b"a", POINT, AUTH).body[:86]
    assert encrypt_legacy(b"a", POINT, AUTH).headers != encrypt_legacy(b"a", POINT, AUTH).headers


@given(st.text(max_size=300))
def test_any_text_is_a_key_or_none(text: str) -> None:
    raw = keys.decode(text)
    assert raw is None or keys.decode(keys.encode(raw)) == raw
    assert raw is None or not keys.is_point(raw) or len(raw) == 65


@given(st.binary(max_size=120))
def test_keys_are_read_however_they_are_written(raw: bytes) -> None:
    plain = keys.encode(raw)
    padded = plain + "=" * (-len(plain) % 4)
    for written in (plain, padded, padded.replace("-", "+").replace("_", "/")):
        assert keys.decode(written) == raw


@given(st.binary(min_size=64, max_size=64))
def test_few_numbers_are_a_point(raw: bytes) -> None:
    """It is asked of the curve's equation, written out."""
    p = 2**256 - 2**224 + 2**192 + 2**96 - 1
    b = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
    x, y = int.from_bytes(raw[:32]), int.from_bytes(raw[32:])
    on_curve = x < p and y < p and (y * y - (x**3 - 3 * x + b)) % p == 0
    assert keys.is_point(b"\x04" + raw) == on_curve


def test_points_in_other_forms_are_none() -> None:
    compressed = KEY.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
    assert keys.is_point(POINT)
    for raw in (compressed, b"", b"\x00", POINT[:-1], POINT + b"\0", b"\x05" + POINT[1:], b"\x04" + bytes(64)):
        assert not keys.is_point(raw)


def test_another_library_verifies_who_sends() -> None:
    secret = secrets.token_bytes(32)
    ends = datetime.now(UTC) + timedelta(hours=1)
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(vapid.public_key(secret)))
    for _ in range(20):
        token = vapid.sign(secret, audience="https://push.example", subject="mailto:a@b.example", expires_at=ends)
        said = jwt.decode(token, public, algorithms=["ES256"], audience="https://push.example")
        assert said == {"aud": "https://push.example", "sub": "mailto:a@b.example", "exp": int(ends.timestamp())}
    with pytest.raises(jwt.InvalidSignatureError):
        jwt.decode(token[:-4] + "AAAA", public, algorithms=["ES256"], audience="https://push.example")


_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=140)


@given(_text, _text, st.integers(min_value=400, max_value=MOST_BYTES))
def test_messages_are_cut_until_they_fit(title: str, body: str, most: int) -> None:
    message = PushMessage(
        access_token="t" * 43,
        preferred_locale="en",
        notification_id=2**62,
        notification_type="mention",
        icon="https://a.example/" + "i" * 100,
        title=title[:20],
        body=body,
    )
    made = fit(message, most)
    assert len(made) <= most
    told = json.loads(made)
    assert told["title"] == title[:20]
    assert told["body"] == body or body.startswith(told["body"].removesuffix("…").rstrip())
    assert fit(message, 100_000) == made or len(told["body"]) < len(body) or not told["icon"]


def test_every_type_has_a_title_in_every_language() -> None:
    assert set(TITLES) == set(TYPES)
    assert title_of("mention", "{name}", "de-AT") == "{name} hat dich erwähnt"
    assert title_of("mention", "Ada", "fr") == "Ada mentioned you"


ANSWERS: dict[tuple[int, str], tuple[PushOutcome, timedelta | None]] = {
    (200, ""): (PushOutcome.DONE, None),
    (201, "10"): (PushOutcome.DONE, None),
    (204, ""): (PushOutcome.DONE, None),
    **{(status, ""): (PushOutcome.GONE, None) for status in (400, 401, 403, 404, 405, 410, 413, 422, 451, 499)},
    **{(status, ""): (PushOutcome.LATER, None) for status in (100, 300, 302, 304, 408, 429, 500, 502, 503, 599)},
    (429, "120"): (PushOutcome.LATER, timedelta(seconds=120)),
    (503, "9" * 30): (PushOutcome.LATER, LONGEST_WAIT),
    (503, "Fri, 02 Jan 2026 03:05:05 GMT"): (PushOutcome.LATER, timedelta(minutes=1)),
    (503, "Fri, 02 Jan 2126 03:05:05 -0000"): (PushOutcome.LATER, LONGEST_WAIT),
    (503, "soon"): (PushOutcome.LATER, None),
    (503, "-5"): (PushOutcome.LATER, None),
    (503, "\u0663"): (PushOutcome.LATER, None),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_an_answer_means(answer: tuple[int, str]) -> None:
    found = _verdict(*answer, NOW)
    assert (found.outcome, found.wait) == ANSWERS[answer]


async def test_a_slow_service_or_person_holds_up_nobody_else() -> None:
    slots = Slots()
    done = asyncio.Event()
    sent: list[str] = []

    async def send(host: str, account_id: int) -> None:
        async with slots.take(host, account_id):
            sent.append(host)
            await done.wait()

    waiting = [asyncio.create_task(send("slow", number)) for number in range(PER_HOST)]
    waiting += [asyncio.create_task(send(f"{number}", 1000)) for number in range(PER_ACCOUNT)]
    while len(sent) < PER_HOST + PER_ACCOUNT:
        await asyncio.sleep(0)
    both = await asyncio.gather(send("slow", 100), send("elsewhere", 1000), return_exceptions=True)
    assert [type(one) for one in both] == [Busy, Busy]
    with pytest.raises(Busy):
        send("slow", 101).send(None)  # by now it is known, and nobody waits
    other = asyncio.create_task(send("quick", 100))
    while "quick" not in sent:
        await asyncio.sleep(0)
    done.set()
    await asyncio.gather(*waiting, other)
    await send("slow", 100)
    await send("elsewhere", 1000)


def test_hosts_that_the_operator_listed() -> None:
    hosts = PrivateHosts(["127.0.0.1", "10.0.0.0/8:8443", "push.lan", "[::1]:80"])
    listed = {
        ("127.0.0.1", 1),
        ("10.1.2.3", 8443),
        ("push.lan", 1),
        ("PUSH.lan.", 443),
        ("::1", 80),
        ("::ffff:127.0.0.1", 5),
    }
    others = {("127.0.0.2", 1), ("10.1.2.3", 443), ("push.lan.example", 1), ("localhost", 1), ("::1", 443), ("", 1)}
    assert {one for one in listed | others if hosts.lists(*one)} == listed
