"""Sets of keys that others publish hold public keys; no others are even read."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable

import pytest

from kith.identity.providers.oauth2.errors import OAuthError
from kith.identity.providers.oauth2.keys.client_keys import read_keys
from kith.identity.providers.oauth2.registration import metadata
from kith.identity.sources.oauth.id_tokens import UnknownKey, verified
from tests import dear_keys


def _of_client(jwk: dict[str, str]) -> None:
    assert read_keys({"keys": [jwk] * 20}) == ()


def _of_registration(jwk: dict[str, str]) -> None:
    with pytest.raises(OAuthError, match="public keys only"):
        metadata._check_jwks({"keys": [jwk]})


def _of_source(jwk: dict[str, str]) -> None:
    head = base64.urlsafe_b64encode(b'{"alg": "RS256"}').rstrip(b"=").decode()
    with pytest.raises(UnknownKey):
        verified(f"{head}.e30.AAAA", {"keys": [jwk]})


@pytest.mark.parametrize("read", [_of_client, _of_registration, _of_source])
def test_private_keys_of_others_are_not_even_read(read: Callable[[dict[str, str]], None]) -> None:
    dear = dear_keys.private_jwk()
    for jwk in (dear, {name: dear[name] for name in ("kty", "n", "e", "d")}):
        begun = time.process_time()
        read(jwk)
        assert time.process_time() - begun < 0.5  # several seconds, if the library looks at it
