"""A request's body, whatever its encoding, as one nested value."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import Any

import msgspec
from multipart import parse_options_header  # type: ignore[import-untyped]

from kith.base.errors import Malformed, UnsupportedMedia
from kith.base.exchange import Exchange
from kith.base.params.extent import surely_holds_more
from kith.base.params.limits import LIMITS, NO_FILES, BodyLimits
from kith.base.params.nesting import nest, read_form
from kith.base.params.parts import read_parts
from kith.base.params.upload import closing

__all__ = ["ReadBody", "parse_json", "read_body", "read_json"]

_FRAMING_BYTES = 256 * 1024
OF_STRANGERS = 1 << 20  # bytes of files, of whoever has not shown who they are


class _ReadParts(msgspec.Struct, frozen=True):
    """The parts of a multipart body, kept for whoever asks a second time: a body can be read only once."""

    limits: BodyLimits
    value: dict[str, Any]


class ReadBody(msgspec.Struct, frozen=True):
    """What a page has read of a form, for the call of our own API that it makes with it."""

    value: dict[str, Any]


async def read_body(exchange: Exchange, limits: BodyLimits = NO_FILES) -> dict[str, Any]:
    """Read JSON, a form or multipart; an empty body is an empty object, whatever type it claims.

    Files are kept only where `limits` say so, and large ones only of callers who are known by then. They are closed
    when the request ends.
    """
    if ReadBody in exchange.kept:
        given: ReadBody = exchange.kept[ReadBody]
        return given.value
    header = exchange.header(b"content-type").decode("latin-1")
    media_type, options = parse_options_header(header)
    if media_type == "application/json":
        return parse_json(await exchange.body(limits.max_bytes), limits)
    if media_type == "application/x-www-form-urlencoded":
        return read_form(await exchange.body(limits.max_bytes), limits)
    if media_type == "multipart/form-data":
        return await _read_multipart(exchange, options.get("boundary", ""), limits)
    return await _read_nothing(exchange, header, limits)


async def read_json(exchange: Exchange, limits: BodyLimits = LIMITS) -> dict[str, Any]:
    """Read JSON and nothing else: any other body is `UnsupportedMedia`."""
    header = exchange.header(b"content-type").decode("latin-1")
    if parse_options_header(header)[0] == "application/json":
        return parse_json(await exchange.body(limits.max_bytes), limits)
    return await _read_nothing(exchange, header, limits)


def parse_json(raw: bytes, limits: BodyLimits = LIMITS) -> dict[str, Any]:
    if not raw or raw.isspace():
        return {}
    if surely_holds_more(raw, limits.values):
        raise _too_many(limits)
    try:
        value = msgspec.json.decode(raw)
    except RecursionError as error:
        raise _too_deep(limits) from error
    except UnicodeDecodeError as error:
        raise Malformed("JSON parse error - the body is not valid UTF-8") from error
    except msgspec.DecodeError as error:
        raise Malformed(f"JSON parse error - {error}") from error
    if not isinstance(value, dict):
        raise Malformed("The body must be a JSON object", extra={"got": type(value).__name__})
    if raw.count(b"{") + raw.count(b"[") > limits.depth and _is_deeper(value, limits.depth):
        raise _too_deep(limits)
    if raw.count(b",") >= limits.values and _count(value) > limits.values:
        raise _too_many(limits)
    return value


def _count(value: Any) -> int:
    """How many values there are in all, whose depth is bounded already."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return 1
    return len(value) + sum(_count(one) for one in value if isinstance(one, dict | list))


def _too_many(limits: BodyLimits) -> Malformed:
    return Malformed(f"There are more than {limits.values} values")


def _too_deep(limits: BodyLimits) -> Malformed:
    return Malformed(f"The parameters are nested deeper than {limits.depth} levels")


def _is_deeper(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


async def _read_multipart(exchange: Exchange, boundary: str, limits: BodyLimits) -> dict[str, Any]:
    known: _ReadParts | None = exchange.kept.get(_ReadParts)
    if known is not None and known.limits == limits:
        return known.value
    held = limits
    if exchange.user_id is None and limits.max_file_bytes > OF_STRANGERS:
        held = replace(limits, max_file_bytes=OF_STRANGERS)
    most = held.max_bytes + _FRAMING_BYTES + (held.max_file_bytes if held.max_files else 0)
    async with aclosing(exchange.chunks(most)) as chunks:
        form = await read_parts(chunks, boundary, held)
    if form.uploads:
        exchange.at_end(closing(form.uploads))
    found = nest(form.pairs, limits)
    exchange.kept[_ReadParts] = _ReadParts(limits, found)
    return found


async def _read_nothing(exchange: Exchange, header: str, limits: BodyLimits) -> dict[str, Any]:
    async with aclosing(exchange.chunks(limits.max_bytes)) as chunks:
        async for _ in chunks:
            raise UnsupportedMedia(f'Unsupported media type "{header}" in request.')
    return {}
