"""Reading the body of a request to the identity API: one JSON object, and nothing else."""

from __future__ import annotations

from typing import Any

from kith.base.edge import Exchange
from kith.base.errors import Invalid, Malformed, TooLarge, UnsupportedMedia
from kith.base.params import Limits, parse_json
from kith.identity.rest.fields import type_name

MOST_BYTES = 1 << 20
_LIMITS = Limits(depth=32)


async def read_object(exchange: Exchange) -> dict[str, Any]:
    content_type = exchange.header(b"content-type").decode("latin-1")
    body = await _read(exchange)
    if content_type.partition(";")[0].strip().lower() != "application/json":
        if not body and not content_type:
            return {}
        raise UnsupportedMedia(
            f'Unsupported media type "{content_type[:100]}" in request.', headers={"Accept": "application/json"}
        )
    try:
        value = parse_json(body or b"", _LIMITS) if body else {}
    except Malformed as error:
        raise Malformed(f"JSON parse error - {error.message}") from error
    if not isinstance(value, dict):
        raise Invalid(fields={"": [f"Invalid data. Expected a dictionary, but got {type_name(value)}."]})
    return value


async def _read(exchange: Exchange) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await exchange.receive()
        if message["type"] != "http.request":
            raise Malformed("The client went away")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MOST_BYTES:
            raise TooLarge
        if not message.get("more_body"):
            return b"".join(parts)
