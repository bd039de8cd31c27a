"""ID tokens of a source: what is believed, and every way in which one is not."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from kith.identity.sources.ldap.entries import dn_key
from kith.identity.sources.oauth.fediverse import read_server
from kith.identity.sources.oauth.id_tokens import (
    MOST_TRIED,
    UnknownKey,
    Untrusted,
    algorithm_of,
    check_id_token,
    half_hash,
    verified,
)
from kith.identity.sources.oauth.presets import preset_of
from kith.identity.sources.oauth.profiles import is_verified
from kith.identity.sources.oauth.settings import scope_of

_RSA = RSAKey.import_key(
    rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ),
    {"kid": "one"},
)
_OTHER = ECKey.generate_key("P-256", {"kid": "two"})
KEYS: dict[str, Any] = {"keys": [_RSA.as_dict(private=False), _OTHER.as_dict(private=False)]}
NOW = time.time()
CLAIMS: dict[str, Any] = {
    "iss": "https://id.example",
    "aud": "kith",
    "sub": "7",
    "nonce": "n",
    "iat": NOW,
    "exp": NOW + 60,
}


def signed(claims: dict[str, Any], alg: str = "RS256", kid: str = "one") -> str:
    key = _RSA if alg.startswith(("RS", "PS")) else _OTHER
    return jwt.encode({"alg": alg, "kid": kid}, claims, key, algorithms=[alg])


def _b64(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def believed(claims: dict[str, Any], *, access_token: str = "", alg: str = "RS256") -> None:
    check_id_token(
        claims,
        issuer="https://id.example",
        client_id="kith",
        nonce="n",
        access_token=access_token,
        alg=alg,
        now=NOW,
    )


@pytest.mark.parametrize(("alg", "kid"), [("RS256", "one"), ("PS256", "one"), ("ES256", "two")])
def test_what_the_service_has_signed_is_believed(alg: str, kid: str) -> None:
    token = signed(CLAIMS, alg, kid)

    claims = verified(token, KEYS)
    believed(claims, alg=algorithm_of(token))

    assert claims["sub"] == "7"


def test_no_signature_and_a_shared_secret_are_never_enough() -> None:
    public = json.dumps(KEYS["keys"][0]).encode()
    by_secret = jwt.encode({"alg": "HS256", "kid": "one"}, CLAIMS, OctKey.import_key(public), algorithms=["HS256"])
    forged = [
        f"{_b64({'alg': 'none'})}.{_b64(CLAIMS)}.",
        by_secret,  # with the public key, which everybody knows, as the secret
        signed(CLAIMS)[:-4] + "AAAA",
        signed(CLAIMS).replace(_b64(CLAIMS)[:8], "AAAAAAAA"),
        f"{_b64({'alg': 'RS256', 'crit': ['x']})}.{_b64(CLAIMS)}.AAAA",
        "",
        "a.b.c",
        "x" * 40_000,
    ]

    for token in forged:
        with pytest.raises(Untrusted):
            verified(token, KEYS)


def test_no_key_is_tried_that_takes_long() -> None:
    """A source with many keys of long exponents would hold everybody up with each token that anybody sends."""
    number = "A" + "_" * 511
    slow = [{"kty": "RSA", "n": number, "e": number}, {"kty": "RSA", "n": "_" * 1500, "e": "AQAB"}] * 25
    token = jwt.encode({"alg": "RS256"}, CLAIMS, _RSA, algorithms=["RS256"])

    with pytest.raises(UnknownKey):
        verified(token, {"keys": slow})
    with pytest.raises(UnknownKey):
        verified(token, {"keys": [{"kty": "EC", "crv": "P-256", "x": "A" * 300, "y": "A"}]})
    assert verified(token, {"keys": [*slow, KEYS["keys"][0]]})["sub"] == "7"
    others = [{**KEYS["keys"][0], "n": f"{number}{one}"} for one in range(MOST_TRIED)]
    with pytest.raises(Untrusted):
        verified(token, {"keys": [*others, KEYS["keys"][0]]})


def test_a_key_is_used_for_its_own_kind_of_algorithm() -> None:
    with pytest.raises(UnknownKey):
        verified(signed(CLAIMS, "ES256", kid="one"), KEYS)
    only_pss = {"keys": [{**KEYS["keys"][0], "alg": "PS256"}]}
    with pytest.raises(UnknownKey):
        verified(signed(CLAIMS), only_pss)
    with pytest.raises(UnknownKey):
        verified(signed(CLAIMS), {"keys": []})


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another"},
        {"aud": ["another"]},
        {"aud": ["kith", "another"]},
        {"azp": "another"},
        {"nonce": "another"},
        {"nonce": None},
        {"exp": NOW - 61},
        {"exp": None},
        {"exp": "soon"},
        {"exp": True},
        {"exp": float("nan")},
        {"exp": float("inf")},
        {"exp": 10**400},
        {"iat": float("nan")},
        {"iat": -(10**400)},
        {"nonce": "\ud800"},
        {"iat": NOW + 120},
        {"iat": None},
        {"nbf": NOW + 120},
        {"sub": ""},
        {"sub": 7},
        {"at_hash": "wrong"},
    ],
)
def test_what_a_token_says_must_fit(change: dict[str, Any]) -> None:
    believed(CLAIMS, access_token="t")

    with pytest.raises(Untrusted):
        believed({**CLAIMS, **change}, access_token="t")


def test_a_token_for_several_is_believed_if_it_was_made_for_us() -> None:
    believed({**CLAIMS, "aud": ["kith", "another"], "azp": "kith"})
    believed({**CLAIMS, "at_hash": half_hash("RS256", "t")}, access_token="t")


@pytest.mark.parametrize(
    ("kind", "told", "wanted"),
    [
        ("openid-connect", {"email_verified": True}, True),
        ("openid-connect", {"email_verified": "true"}, False),
        ("openid-connect", {"email": "a@b"}, False),
        ("azure-ad", {"mail": "a@b"}, False),  # anybody can write an address into their directory
        ("github", {"email": "a@b"}, False),
        ("github", {"email_verified": True}, True),
        ("discord", {"verified": True}, True),
        ("discord", {"verified": False, "email_verified": True}, False),
    ],
)
def test_only_who_says_so_has_checked_an_address(kind: str, told: dict[str, Any], wanted: bool) -> None:
    assert is_verified(preset_of(kind), told) is wanted


@pytest.mark.parametrize(
    ("usual", "more", "wanted"),
    [("openid email", "groups email", "openid email groups"), ("openid", "*read", "read"), ("", "", "")],
)
def test_which_scopes_are_asked_for(usual: str, more: str, wanted: str) -> None:
    assert scope_of(usual, more) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("@ada@social.example", ("ada", "social.example")),
        ("ada@social.example", ("ada", "social.example")),
        ("Social.Example", ("", "social.example")),
        ("https://social.example/", ("", "social.example")),
        ("https://social.example/@ada", ("", "social.example")),
        ("127.0.0.1:3000", ("", "127.0.0.1:3000")),
        ("bücher.example", ("", "xn--bcher-kva.example")),
        ("", ("", "")),
        ("a b", ("", "")),
        ("ada@", ("", "")),
        ("a..b", ("", "")),
        ("evil.example#@good.example", ("", "")),
        ("user:password@host.example", ("", "")),
    ],
)
def test_what_people_type_names_a_server(text: str, wanted: tuple[str, str]) -> None:
    assert read_server(text) == wanted


@given(st.text(max_size=300))
def test_whatever_is_typed_is_a_host_or_nothing(text: str) -> None:
    name, host = read_server(text)

    assert not set(host) & set("/@?#\\ %")
    assert not name or host


@given(st.text(max_size=200))
def test_the_normal_form_of_a_name_is_its_own_normal_form(text: str) -> None:
    assert dn_key(dn_key(text)) == dn_key(text)
