"""What a new passkey's maker says of it is not looked at: it costs nothing, whatever it is."""

from __future__ import annotations

import base64
import time
from types import SimpleNamespace
from typing import Any

import cbor2
import pytest

from kith.identity.factors.attestations import MOST_VALUES, check_data, without_statement
from kith.identity.factors.ceremonies import Ceremony
from tests import dear_keys
from tests.identity.flow_browser import Key

HOME: Any = SimpleNamespace(base_url="https://kith.example")
CHALLENGE = base64.urlsafe_b64encode(bytes(48)).decode()


def attested(**statement: Any) -> tuple[Ceremony, dict[str, Any]]:
    """A passkey as it is registered, with this statement of its maker."""
    ceremony = Ceremony("Kith", HOME.base_url, HOME.base_url)
    sent = Key(HOME).register({"challenge": CHALLENGE})
    told = cbor2.loads(unpacked(sent["response"]["attestationObject"]))
    made = cbor2.dumps(told | statement)
    sent["response"]["attestationObject"] = base64.urlsafe_b64encode(made).rstrip(b"=").decode()
    return ceremony, sent


def unpacked(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "==")


@pytest.mark.parametrize("form", ["packed", "fido-u2f", "tpm", "apple", "nobody-knows"])
def test_statements_of_makers_cost_nothing(form: str) -> None:
    statement = {"alg": -7, "sig": b"x" * 70, "x5c": [dear_keys.certificate()]}
    ceremony, sent = attested(fmt=form, attStmt=statement)
    begun = time.process_time()
    made = ceremony.registered(CHALLENGE, sent, verified=True)

    assert time.process_time() - begun < 0.5  # several seconds, if the library looks at it
    assert made.credential_id == unpacked(sent["id"])


REFUSED: dict[str, Any] = {
    "a tag": cbor2.CBORTag(35, "(a*)*"),
    "a long number as a name": {1 << 80: None},
    "many values": [None] * (MOST_VALUES + 1),
    "deep values": [[[[[[[[[[[None]]]]]]]]]]],
    "much": bytes(1 << 17),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_no_authenticator_writes_is_refused(what: str) -> None:
    ceremony, sent = attested(attStmt={"x": REFUSED[what]})
    with pytest.raises(ceremony.BAD):
        ceremony.registered(CHALLENGE, sent, verified=True)


@pytest.mark.parametrize("what", REFUSED)
def test_nor_beside_the_authenticators_own_data(what: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - its words are for nobody
        check_data(bytes(32) + b"\x81" + bytes(4) + cbor2.dumps(REFUSED[what]))


def test_what_is_cut_off_is_refused() -> None:
    whole = unpacked(attested()[1]["response"]["attestationObject"])
    without_statement(whole)
    for length in range(len(whole)):
        with pytest.raises(ValueError):  # noqa: PT011
            without_statement(whole[:length])
