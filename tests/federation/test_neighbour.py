"""The neighbour that other tests talk to keeps what is signed well, and nothing else."""

from __future__ import annotations

import pytest

from kith.federation.signatures.signing import SigningScheme
from tests.federation.neighbour import neighbour, private_key


@pytest.mark.parametrize("scheme", SigningScheme)
async def test_what_is_signed_is_kept_and_what_is_not_is_refused(scheme: SigningScheme) -> None:
    async with neighbour() as here, neighbour() as there:
        ada, bob = here.person("ada"), there.person("bob", key=1)
        like = ada.activity("Like", bob.uri)

        assert (await ada.post(f"{there.url}/inbox", like, scheme=scheme)).status_code == 202
        arrived = await there.receives("Like")
        assert (arrived.signer, arrived.activity, arrived.path) == (ada.uri, like, "/inbox")

        ada.key = private_key(1)  # without a word about it
        assert (await ada.post(f"{there.url}/inbox", like, scheme=scheme)).status_code == 401
        assert len(there.arrived) == len(there.refused) == 1
