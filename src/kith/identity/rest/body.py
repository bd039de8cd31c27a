"""Reading the body of a request to the identity API: one JSON object, and nothing else."""

from __future__ import annotations

from typing import Any

from kith.base.errors import Invalid, Malformed, TooLarge, UnsupportedMedia
from kith.base.exchange import Exchange
from kith.base.params import BodyLimits, parse_json
from kith.base.params.body import ReadBody

MOST_BYTES = 512 << 10
_LIMITS = BodyLimits(depth=32, values=50_000)


async def read_object(exchange: Exchange, most: int = MOST_BYTES) -> dict[str, Any]:
    if ReadBody in exchange.kept:  # a form of our own pages
        return dict(exchange.kept[ReadBody].value)
    content_type = exchange.header(b"content-type").decode("latin-1")
    body = await _read(exchange, most)
    if content_type.partition(";")[0].strip().lower() != "application/json":
        if not body and not content_type:
            return {}
        raise UnsupportedMedia(
            f'Unsupported media type "{content_type[:100]}" in request.', headers={"Accept": "application/json"}
        )
    try:
        return parse_json(body, _LIMITS)
    except Malformed as error:
        if "got" in error.extra:
            words = f"Invalid data. Expected a dictionary, but got {error.extra['got']}."
            raise Invalid(fields={"": [words]}) from error
        raise


async def _read(exchange: Exchange, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await exchange.receive()
        if message["type"] != "http.request":
            raise Malformed("The client went away")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise TooLarge
        if not message.get("more_body"):
            return b"".join(parts)
