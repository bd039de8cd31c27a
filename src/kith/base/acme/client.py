"""Speaking to an ACME server: signed requests, one order from its names to its certificate."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from kith.base.http import OutgoingError, OutsideAnswer

__all__ = ["Acme", "AcmeError", "ShowAnswer"]

ORDER_SECONDS = 180.0
CALL_SECONDS = 30.0
TRIES_WITH_ANOTHER_NONCE = 10  # a server may refuse some on purpose, to see that its clients try again
LONGEST_PAUSE = 10.0
MOST_BYTES = 256 * 1024
_BAD_NONCE = "urn:ietf:params:acme:error:badNonce"

ShowAnswer = Callable[[str, str], Awaitable[None]]


class AcmeError(Exception):
    """There is no certificate; the message says why, in the server's words where it has some."""


class Ask(Protocol):
    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: dict[str, str] | None = None,
        body: bytes | None = None,
        max_bytes: int = 0,
        timeout: float = 0.0,  # noqa: ASYNC109 - of the whole call
    ) -> OutsideAnswer: ...


class Acme:
    """An account, by its key, at the server whose directory is at `directory`."""

    def __init__(self, ask: Ask, directory: str, key: ec.EllipticCurvePrivateKey, contact: str = "") -> None:
        self._ask = ask
        self._directory_url = directory
        self._directory: dict[str, Any] = {}
        self._key = key
        self._jwk = _public(key)
        self._contact = contact
        self._account = ""
        self._nonce = ""

    async def order(self, names: list[str], csr: bytes, show: ShowAnswer) -> bytes:
        """A certificate with its chain. `show(token, answer)`: from now on the server may ask here for that token."""
        try:
            async with asyncio.timeout(ORDER_SECONDS):
                return await self._order(names, csr, show)
        except TimeoutError as error:
            raise AcmeError(f"the certificate was not made within {ORDER_SECONDS:.0f} seconds") from error
        except OutgoingError as error:
            raise AcmeError(f"the ACME server cannot be reached: {error}") from error
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise AcmeError(f"the ACME server answers what cannot be understood: {error!r}") from error

    async def _order(self, names: list[str], csr: bytes, show: ShowAnswer) -> bytes:
        await self._sign_in()
        wanted = {"identifiers": [{"type": "dns", "value": name} for name in names]}
        made = await self._post(self._directory["newOrder"], wanted)
        url, order = made.headers["Location"], _object(made)
        for authorization in order["authorizations"]:
            await self._prove(authorization, show)
        order = await self._until(url, {"ready", "valid"})
        if order["status"] == "ready":
            await self._post(order["finalize"], {"csr": _b64(csr)})
            order = await self._until(url, {"valid"})
        return (await self._post(order["certificate"], None)).body

    async def _sign_in(self) -> None:
        """A key that the server knows already gets the account it has."""
        found = await self._ask.request("GET", self._directory_url, max_bytes=MOST_BYTES, timeout=CALL_SECONDS)
        if found.status != 200:
            raise AcmeError(f"the ACME server's directory answers {found.status}")
        self._directory = _object(found)
        self._account = ""
        account: dict[str, Any] = {"termsOfServiceAgreed": True}
        if self._contact:
            account["contact"] = [f"mailto:{self._contact}"]
        self._account = (await self._post(self._directory["newAccount"], account)).headers["Location"]

    async def _prove(self, url: str, show: ShowAnswer) -> None:
        """That one of the names leads here."""
        authorization = _object(await self._post(url, None))
        if authorization["status"] == "valid":
            return
        name = authorization["identifier"]["value"]
        ways = [one for one in authorization["challenges"] if one["type"] == "http-01"]
        if not ways:
            raise AcmeError(f"the ACME server does not ask over HTTP for {name}")
        token = ways[0]["token"]
        await show(token, f"{token}.{_thumbprint(self._jwk)}")
        await self._post(ways[0]["url"], {})
        await self._until(url, {"valid"})

    async def _until(self, url: str, wanted: set[str]) -> dict[str, Any]:
        while True:
            answer = await self._post(url, None)
            found = _object(answer)
            if found["status"] in wanted:
                return found
            if found["status"] not in ("pending", "processing", "ready"):
                raise AcmeError(_why(found) or f"the ACME server says {found['status']!r}")
            await asyncio.sleep(_pause(answer))

    async def _post(self, url: str, payload: dict[str, Any] | None) -> OutsideAnswer:
        """Signed. Without a payload it only reads."""
        for _ in range(TRIES_WITH_ANOTHER_NONCE):
            answer = await self._ask.request(
                "POST",
                url,
                headers={"Content-Type": "application/jose+json"},
                body=self._signed(url, payload, await self._take_nonce()),
                max_bytes=MOST_BYTES,
                timeout=CALL_SECONDS,
            )
            self._nonce = answer.headers.get("Replay-Nonce", "")
            if answer.status < 300:
                return answer
            problem: dict[str, Any] = {}
            with contextlib.suppress(ValueError):
                problem = _object(answer)
            if problem.get("type") != _BAD_NONCE:
                raise AcmeError(_words(problem) or f"the ACME server answers {answer.status}")
        raise AcmeError("the ACME server refuses every nonce")

    async def _take_nonce(self) -> str:
        nonce, self._nonce = self._nonce, ""
        if not nonce:
            new = await self._ask.request("HEAD", self._directory["newNonce"], timeout=CALL_SECONDS)
            nonce = new.headers["Replay-Nonce"]
        return nonce

    def _signed(self, url: str, payload: dict[str, Any] | None, nonce: str) -> bytes:
        who: dict[str, Any] = {"kid": self._account} if self._account else {"jwk": self._jwk}
        head = _b64(msgspec.json.encode({"alg": "ES256", "nonce": nonce, "url": url, **who}))
        body = "" if payload is None else _b64(msgspec.json.encode(payload))
        r, s = decode_dss_signature(self._key.sign(f"{head}.{body}".encode(), ec.ECDSA(hashes.SHA256())))
        signature = _b64(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
        return msgspec.json.encode({"protected": head, "payload": body, "signature": signature})


def _object(answer: OutsideAnswer) -> dict[str, Any]:
    found = answer.json()
    if not isinstance(found, dict):
        raise ValueError("the answer is no JSON object")  # noqa: TRY004 - of the server, not of us
    return found


def _why(found: dict[str, Any]) -> str:
    """An authorization that failed says so at the challenge that failed; an order in itself."""
    for challenge in found.get("challenges", []):
        if challenge.get("error"):
            return f"{found['identifier']['value']}: {_words(challenge['error'])}"
    return _words(found.get("error") or {})


def _words(problem: dict[str, Any]) -> str:
    return " ".join(str(problem.get("detail") or problem.get("type") or "").split())[:500]


def _pause(answer: OutsideAnswer) -> float:
    text = answer.headers.get("Retry-After", "")
    return min(max(float(text), 0.2), LONGEST_PAUSE) if text.isascii() and text.isdigit() else 0.5


def _b64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _public(key: ec.EllipticCurvePrivateKey) -> dict[str, str]:
    numbers = key.public_key().public_numbers()
    x, y = (_b64(number.to_bytes(32, "big")) for number in (numbers.x, numbers.y))
    return {"crv": "P-256", "kty": "EC", "x": x, "y": y}  # in the order that thumbprints are made of


def _thumbprint(jwk: dict[str, str]) -> str:
    return _b64(hashlib.sha256(msgspec.json.encode(jwk)).digest())
