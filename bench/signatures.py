"""What signing and checking cost beside the bare RSA signature, in time of the processor."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256

from bench.report import Result, Target, result
from kith.federation.signatures.digests import sha256
from kith.federation.signatures.received import ReceivedRequest
from kith.federation.signatures.signing import RequestToSign, Signer, SigningScheme, sign
from kith.federation.signatures.verifying import read_claim, verify

BATCH = 100
ORIGIN, PATH = "https://b.example", "/users/bob/inbox"
BODY = b'{"type":"Create"}' * 100

Measured = Callable[[], Awaitable[None]]


async def measure(_folder: Path, *, quick: bool) -> list[Result]:
    rounds = 3 if quick else 9
    tried = _tried()
    rates: dict[str, list[float]] = {name: [] for name in tried}
    for _ in range(rounds):
        for name, one in tried.items():
            rates[name].append(await _rate(one))
    bare, checked = ("signatures.bare", rates["bare"]), ("signatures.bare_check", rates["bare_check"])
    half = Target(0.5, of_ratio=True)
    return [
        result(bare[0], bare[1], "per CPU s"),
        *(
            result(f"signatures.{scheme}", rates[scheme], "per CPU s", baseline=bare, target=half)
            for scheme in SigningScheme
        ),
        result(checked[0], checked[1], "per CPU s"),
        *(
            result(f"signatures.{scheme}_check", rates[f"{scheme}_check"], "per CPU s", baseline=checked)
            for scheme in SigningScheme
        ),
    ]


def _tried() -> dict[str, Measured]:
    key = generate_private_key(public_exponent=65537, key_size=2048)
    signer, now = Signer("https://a.example/users/ada#main-key", key), datetime.now(UTC)
    request = RequestToSign("POST", ORIGIN + PATH, sha256(BODY), {"content-type": "application/activity+json"})
    base, padding, hashing = BODY[:300], PKCS1v15(), SHA256()
    signature, public = key.sign(base, padding, hashing), key.public_key()

    async def bare() -> None:
        for _ in range(BATCH):
            key.sign(base, padding, hashing)

    async def bare_check() -> None:
        for _ in range(BATCH):
            public.verify(signature, base, padding, hashing)

    def signing(scheme: SigningScheme) -> Measured:
        async def many() -> None:
            await asyncio.to_thread(lambda: [sign(signer, request, scheme, now) for _ in range(BATCH)])

        return many

    def checking(scheme: SigningScheme) -> Measured:
        sent = sign(signer, request, scheme, now)
        headers = [(name.encode(), value.encode()) for name, value in sent.items()]

        async def many() -> None:
            for _ in range(BATCH):
                received = ReceivedRequest("POST", PATH.encode(), b"", headers, BODY, origins=(ORIGIN,))
                verify(read_claim(received, now), public)

        return many

    return {
        "bare": bare,
        "bare_check": bare_check,
        **{str(scheme): signing(scheme) for scheme in SigningScheme},
        **{f"{scheme}_check": checking(scheme) for scheme in SigningScheme},
    }


async def _rate(one: Measured) -> float:
    before = time.process_time()
    await one()
    return BATCH / (time.process_time() - before)
