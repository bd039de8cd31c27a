"""Calls to a service: what it answers is held to a size, a time and a shape."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from kith.base.http import Outgoing, OutgoingError, OutsideAnswer
from kith.base.moments import read_http_date
from kith.identity.providers.scim.tables import MOST_IN_REMOTE_ID
from kith.identity.providers.scim.target import ScimTarget

MOST_BYTES = 1 << 20
SECONDS = 10.0
LONGEST_PAUSE = 3600.0
ENDPOINTS = {"user": "Users", "group": "Groups"}


class ServiceFailed(Exception):  # noqa: N818 - the service as a whole; nothing more is sent for a while
    def __init__(self, words: str, *, wait: float | None = None) -> None:
        super().__init__(words)
        self.wait = wait


class ServiceRefused(Exception):  # noqa: N818 - this person or group only
    def __init__(self, words: str, status: int) -> None:
        super().__init__(words)
        self.status = status


class ServiceClient:
    def __init__(self, outgoing: Outgoing, target: ScimTarget) -> None:
        self._outgoing = outgoing
        self._target = target

    async def config(self) -> dict[str, Any]:
        """What the service can do; one that does not say can do no more than it must."""
        try:
            answer = await self._call("GET", "/ServiceProviderConfig")
        except ServiceRefused:
            return {"patch": False}
        told = _json(answer)
        patch = told.get("patch")
        return {"patch": isinstance(patch, Mapping) and patch.get("supported") is True}

    async def create(self, kind: str, document: Mapping[str, Any]) -> str:
        """The id there."""
        answer = await self._call("POST", f"/{ENDPOINTS[kind]}", document)
        id = _json(answer).get("id")
        if not _is_id(id):
            raise ServiceRefused("it has answered without an id", answer.status)
        return str(id)

    async def replace(self, kind: str, id: str, document: Mapping[str, Any]) -> None:
        await self._call("PUT", self._place(kind, id), {**document, "id": id})

    async def change(self, kind: str, id: str, operations: list[dict[str, Any]]) -> None:
        body = {"schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], "Operations": operations}
        await self._call("PATCH", self._place(kind, id), body)

    async def delete(self, kind: str, id: str) -> None:
        """Whoever is gone already is gone."""
        try:
            await self._call("DELETE", self._place(kind, id))
        except ServiceRefused as refused:
            if refused.status not in (404, 410):
                raise

    async def find(self, kind: str, attribute: str, value: str) -> str | None:
        """The id of the only one with this value; None where there is none, or several."""
        text = msgspec.json.encode(value).decode()
        query = urlencode({"filter": f"{attribute} eq {text}", "count": "2"})
        answer = await self._call("GET", f"/{ENDPOINTS[kind]}?{query}")
        listed = _json(answer).get("Resources")
        fitting = [
            one.get("id")
            for one in (listed if isinstance(listed, list) else [])
            if isinstance(one, Mapping) and str(one.get(attribute, "")).casefold() == value.casefold()
        ]
        return str(fitting[0]) if len(fitting) == 1 and _is_id(fitting[0]) else None

    def _place(self, kind: str, id: str) -> str:
        return f"/{ENDPOINTS[kind]}/{quote(id, safe='')}"

    async def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> OutsideAnswer:
        headers = {"Authorization": f"Bearer {self._target.token}", "Accept": "application/scim+json"}
        if body is not None:
            headers["Content-Type"] = "application/scim+json"
        try:
            answer = await self._outgoing.request(
                method,
                f"{self._target.url}{path}",
                headers=headers,
                body=msgspec.json.encode(body) if body is not None else None,
                max_bytes=MOST_BYTES,
                timeout=SECONDS,
                max_redirects=None,
            )
        except OutgoingError as error:
            raise ServiceFailed(f"it cannot be reached ({error.reason})") from error
        return _judged(answer, method, path)


def _judged(answer: OutsideAnswer, method: str, path: str) -> OutsideAnswer:
    status = answer.status
    if 200 <= status < 300:
        return answer
    words = f"{method} {path.partition('?')[0][:200]} was answered with {status}{_detail(answer)}"
    if status == 429 or (status >= 500 and status != 501):
        raise ServiceFailed(words, wait=_retry_after(answer))
    if status in (401, 403) or 300 <= status < 400:
        raise ServiceFailed(words)
    raise ServiceRefused(words, status)


def _detail(answer: OutsideAnswer) -> str:
    try:
        told = answer.json()
    except ValueError:
        return ""
    detail = told.get("detail") if isinstance(told, Mapping) else None
    return f": {detail[:200]}".replace("\0", "") if isinstance(detail, str) else ""


def _retry_after(answer: OutsideAnswer) -> float | None:
    """Seconds, or a date (RFC 9110); at most an hour."""
    text = answer.headers.get("Retry-After", "")[:100].strip()
    if text.isascii() and text.isdigit():
        seconds = float(text[:9])
    else:
        at = read_http_date(text)
        if at is None:
            return None
        seconds = (at - datetime.now(UTC)).total_seconds()
    return min(max(seconds, 0.0), LONGEST_PAUSE) if math.isfinite(seconds) else None


def _json(answer: OutsideAnswer) -> Mapping[str, Any]:
    try:
        told = answer.json()
    except ValueError as error:
        raise ServiceFailed("its answer is not JSON") from error
    if not isinstance(told, Mapping):
        raise ServiceFailed("its answer is no JSON object")
    return told


def _is_id(value: Any) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return True
    return isinstance(value, str) and 0 < len(value) <= MOST_IN_REMOTE_ID and "\0" not in value
