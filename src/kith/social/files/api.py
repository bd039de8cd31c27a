"""Stored files, for anybody who knows their names: in pieces, for ever, and never as anything that runs."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import msgspec

from kith.base.blobs import FOREVER, Blobs
from kith.base.errors import NotFound, Problem
from kith.base.exchange import Answer, Dialect, Exchange, Headers
from kith.base.routing import FromPath, get
from kith.social.files.fetched import FetchedFiles
from kith.social.files.keys import MIMES, PUBLIC, id_of_folder, mime_of
from kith.social.files.withheld import Withheld

FETCHED = frozenset({"attachments", "avatars", "cards", "emojis", "headers"})
OWNED = frozenset({"attachments", "avatars", "headers"})
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def shape(problem: Problem, _exchange: Exchange) -> Answer:
    headers = tuple((name.encode(), value.encode()) for name, value in problem.headers.items())
    kind = ((b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store"))
    return Answer(problem.status, (*headers, *kind), problem.message.encode())


DIALECT = Dialect(
    name="files",
    headers=(
        (b"content-security-policy", b"default-src 'none'; sandbox"),
        (b"x-content-type-options", b"nosniff"),
        (b"cross-origin-resource-policy", b"cross-origin"),
        (b"access-control-allow-origin", b"*"),
        (b"access-control-expose-headers", b"Accept-Ranges, Content-Length, Content-Range, ETag"),
        (b"referrer-policy", b"no-referrer"),
    ),
    shape=shape,
)


class Unsatisfiable(Problem):
    status = 416
    code = "range_not_satisfiable"
    message = "There is no such part of this file"

    def __init__(self, size: int) -> None:
        super().__init__(headers={"Content-Range": f"bytes */{size}"})


class ByteRange(msgspec.Struct, frozen=True):
    """From `start` up to, not including, `end`."""

    start: int
    end: int


def read_range(text: str, size: int) -> ByteRange | None:
    """The one part that is asked for; None for the whole. Several at once are refused: nothing that plays asks so."""
    if not text.startswith("bytes="):
        return None
    if "," in text:
        raise Unsatisfiable(size)
    found = _RANGE.fullmatch(text.replace(" ", ""))
    if found is None or found.group(0) == "bytes=-":
        return None
    first, last = found.groups()
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), min(size, int(last) + 1) if last else size
        if last and int(last) < start:
            return None
    if start >= size or start >= end:
        raise Unsatisfiable(size)
    return ByteRange(start, end)


@get("/media/{path:path}")
async def show_file(exchange: Exchange, path: FromPath[str]) -> Answer:
    key = path
    shelf, owner = key.partition("/")[0], id_of_folder(key[:200])
    if shelf not in PUBLIC:
        raise NotFound
    withheld = exchange.find(Withheld)  # type: ignore[type-abstract]
    if shelf in OWNED and owner is not None and await withheld.is_withheld(exchange.work, shelf, owner):
        raise NotFound
    blobs = exchange.find(Blobs)
    fetched = exchange.find(FetchedFiles)  # type: ignore[type-abstract]
    try:
        size = await blobs.size(key)
    except NotFound:
        if shelf not in FETCHED or owner is None:
            raise
        elsewhere = await fetched.bring(exchange.work, shelf, owner, key)
        if elsewhere is not None:
            return Answer(302, ((b"location", elsewhere.encode()), (b"cache-control", b"no-store")))
        size = await blobs.size(key)
    if shelf in FETCHED and owner is not None:
        await fetched.looked_at(exchange.work, shelf, owner)
    tag = f'"{key.rpartition("/")[2]}"'
    headers: Headers = (
        (b"etag", tag.encode()),
        (b"cache-control", FOREVER.encode()),
        (b"accept-ranges", b"bytes"),
        (b"content-disposition", _manner(key).encode()),
    )
    if _is_known(exchange, tag):
        return Answer(304, headers, pieces=_nothing())
    part = read_range(exchange.header(b"range").decode("latin-1"), size) if _may_be_part(exchange, tag) else None
    start, end = (part.start, part.end) if part else (0, size)
    headers += ((b"content-length", str(end - start).encode()), (b"content-type", mime_of(key).encode()))
    if part:
        headers += ((b"content-range", f"bytes {start}-{end - 1}/{size}".encode()),)
    is_empty = exchange.is_head or start == end
    body = _nothing() if is_empty else await blobs.stream(key, start, end)
    return Answer(206 if part else 200, headers, pieces=body)


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""


def _manner(key: str) -> str:
    """What is not one of our kinds is never opened in place."""
    return "inline" if key.rpartition(".")[2] in MIMES else "attachment"


def _is_known(exchange: Exchange, tag: str) -> bool:
    known = exchange.header(b"if-none-match").decode("latin-1")
    return known.strip() == "*" or tag in [one.strip().removeprefix("W/") for one in known.split(",")]


def _may_be_part(exchange: Exchange, tag: str) -> bool:
    """Whoever has a piece of another file under this name gets the whole."""
    held = exchange.header(b"if-range").decode("latin-1").strip()
    return not held or held == tag


routes = [show_file]
