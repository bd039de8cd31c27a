"""Reading the body of a request to the identity API: one JSON object, and nothing else."""

from __future__ import annotations

from typing import Any

from kith.base.errors import Invalid, Malformed, UnsupportedMedia
from kith.base.exchange import Exchange
from kith.base.params import BodyLimits, parse_json
from kith.base.params.body import ReadBody

MOST_BYTES = 512 << 10
_LIMITS = BodyLimits(depth=32, values=50_000)


async def take_in(exchange: Exchange) -> None:
    """Wait for the whole body before it is found out whom the caller may change: whoever draws it out could wait until
    the answer is another. Files are left to the handlers that take some, which read them first."""
    is_file = exchange.header(b"content-type").lower().startswith(b"multipart/")
    if ReadBody not in exchange.kept and not is_file:
        await exchange.body(MOST_BYTES)


async def read_object(exchange: Exchange, most: int = MOST_BYTES) -> dict[str, Any]:
    if ReadBody in exchange.kept:  # a form of our own pages
        return dict(exchange.kept[ReadBody].value)
    content_type = exchange.header(b"content-type").decode("latin-1")
    body = await exchange.body(most)
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
