"""Answers that take less room on their way, for those who take gzip.

What is the same for everybody is compressed once and kept. Of what is made anew only that is compressed which has no
secret in it that somebody else could guess by its length: docs/decisions/0042-what-goes-out-compressed.md.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import zlib

import msgspec

from kith.base.exchange.answers import Answer, Headers
from kith.base.exchange.exchange import Exchange

__all__ = ["SMALL", "KeptText", "answer_of", "keep", "packed", "takes_gzip"]

SMALL = 1400  # what fits into one packet anyway
MOST = 16 << 20  # what is larger goes out as it is
IN_A_THREAD = 32 << 10  # what takes longer than a millisecond or two
MOST_AT_ONCE = 2  # threads; whoever comes meanwhile gets it as it is and does not wait
_MOST_READ = 1000  # bytes of a header
_QUICK, _THOROUGH = 4, 9
_KINDS = (b"text/", b"application/json", b"application/xml", b"application/javascript", b"image/svg+xml")
_SUFFIXES = (b"+json", b"+xml")
_OF_SOMEBODY = (b"cookie", b"authorization", b"signature", b"signature-input", b"proxy-authorization", b"range")
VARY = (b"vary", b"accept-encoding")
PACKED = (b"content-encoding", b"gzip")


class KeptText(msgspec.Struct, frozen=True):
    """A text that is the same for everybody, as it is sent; whoever takes no gzip waits until it is unpacked."""

    kind: str
    small: bytes
    digest: str  # of what it says

    @property
    def body(self) -> bytes:
        return gzip.decompress(self.small)


def keep(body: bytes, kind: str) -> KeptText:
    return KeptText(kind, gzip.compress(body, _THOROUGH, mtime=0), hashlib.sha256(body).hexdigest()[:32])


def answer_of(exchange: Exchange, text: KeptText, headers: Headers = ()) -> Answer:
    """Each of the two has a tag of its own: they differ in every byte. Whoever has it already is told so."""
    is_small = takes_gzip(exchange.header(b"accept-encoding"))
    tag = f'"{text.digest}{"-gzip" if is_small else ""}"'.encode()
    headers = (*headers, VARY, (b"etag", tag))
    known = exchange.header(b"if-none-match")[:_MOST_READ].split(b",")
    if tag in [one.strip().removeprefix(b"W/") for one in known]:
        return Answer(304, headers)
    headers = ((b"content-type", text.kind.encode()), *headers)
    return Answer(200, (*headers, PACKED), text.small) if is_small else Answer(200, headers, text.body)


def takes_gzip(accepted: bytes) -> bool:
    """`gzip;q=0` takes none, and `*` stands for all that is not named."""
    takes_others = False
    for one in accepted[:_MOST_READ].lower().split(b","):
        name, _, quality = one.partition(b";")
        number = quality.strip().removeprefix(b"q=").strip()
        takes = not number or not number.replace(b".", b"").isdigit() or number.strip(b"0.") != b""
        if name.strip() in (b"gzip", b"x-gzip"):
            return takes
        if name.strip() == b"*":
            takes_others = takes
    return takes_others


async def packed(exchange: Exchange, answer: Answer) -> Answer:
    """`answer` as it goes out: smaller where that is worth it, the client takes it, and it tells nobody's secret."""
    if not _is_worth_it(exchange, answer):
        return answer
    headers = _varying(exchange, answer.headers)
    if not takes_gzip(exchange.header(b"accept-encoding")) or not _is_for_everybody(exchange):
        return Answer(answer.status, headers, answer.body)
    small = await _compressed(answer.body)
    if small is None:
        return Answer(answer.status, headers, answer.body)
    return Answer(answer.status, (*(_weak(*one) for one in headers), PACKED), small)


def _is_worth_it(exchange: Exchange, answer: Answer) -> bool:
    if answer.status != 200 or exchange.method != "GET" or not SMALL <= len(answer.body) <= MOST:
        return False
    kind = b""
    for name, value in answer.headers:
        if name in (b"content-encoding", b"content-range", b"accept-ranges"):
            return False
        if name == b"vary" and b"accept-encoding" in value:
            return False  # whoever made it has seen to it
        if name == b"content-type":
            kind = value.partition(b";")[0].strip().lower()
    return kind.startswith(_KINDS) or kind.endswith(_SUFFIXES)


def _is_for_everybody(exchange: Exchange) -> bool:
    """Whether nothing in the request says who asks: then nothing in the answer is theirs alone for a second time."""
    path = exchange.path
    return (
        exchange.route is not None
        and exchange.user_id is None
        and not any(exchange.header(name) for name in _OF_SOMEBODY)
        and exchange.server.safe_path(path) == path  # what follows such a path is itself a key
    )


class _Threads:
    busy = 0


async def _compressed(body: bytes) -> bytes | None:
    """None where too many are being compressed already."""
    if len(body) < IN_A_THREAD:
        return _gzip(body)
    if _Threads.busy >= MOST_AT_ONCE:
        return None
    _Threads.busy += 1
    try:
        return await asyncio.to_thread(_gzip, body)
    finally:
        _Threads.busy -= 1


def _gzip(body: bytes) -> bytes:
    packer = zlib.compressobj(_QUICK, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def _varying(exchange: Exchange, headers: Headers) -> Headers:
    """Beside what the answer and its dialect say already: an answer that says it takes the dialect's place."""
    says = any(name == b"vary" for name, _ in headers)
    beside = () if says else tuple(one for one in exchange.dialect.headers if one[0] == b"vary")
    return (*headers, *beside, VARY)


def _weak(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """The same content in other bytes has a tag that says no more than that."""
    return (name, b"W/" + value) if name == b"etag" and not value.startswith(b"W/") else (name, value)
