"""Hostile messages made by chance from those we know, the same ones for the same seed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from tests.hostile_http.messages import MESSAGES

__all__ = ["mutations"]

LONGEST = 2000
_LINES = (
    b"Content-Length: 5\r\n", b"Content-Length: 0\r\n", b"Content-Length: 60\r\n", b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: identity\r\n", b"Transfer-Encoding : chunked\r\n", b"Transfer-Encoding:\tchunked\r\n",
    b"Connection: upgrade\r\nUpgrade: x\r\n", b"Connection: Upgrade\r\nUpgrade: websocket\r\n", b"Connection: close\r\n",
    b"Connection: keep-alive\r\n", b"Connection: content-length\r\n", b"Connection: transfer-encoding, host\r\n",
    b"Expect: 100-continue\r\n", b"Host: y\r\n", b"X: a\r\n b\r\n", b"TE: trailers\r\n", b"Trailer: Content-Length\r\n",
    b"X-HTTP-Method-Override: GET\r\n", b"X-Front: forged x\r\n", b"X-Front: forged x\r\n X\r\n", b"Content-Length: 5\n",
    b"Transfer-Encoding: chunked\rX: y\r\n", b"\r\n", b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nConnection: Upgrade, HTTP2-Settings\r\n",
)  # fmt: skip
_SIGNS = (
    b"\r", b"\n", b"\r\n", b"\n\n", b"\0", b" ", b"\t", b"\v", b"\x85", b"\xa0", b"\xff", b":", b",", b";", b"0", b"1", b"f", b"#", b"?",
    b"0\r\n\r\n", b"\r\n\r\n", b"HTTP/1.1", b"chunked", b"http://y/",
)  # fmt: skip


def mutations(count: int, seed: int) -> Iterator[bytes]:
    """`count` messages, none of which ends by closing the connection itself."""
    chance = random.Random(seed)
    seeds = [one.sent for one in MESSAGES if len(one.sent) <= LONGEST]
    for _ in range(count):
        message = chance.choice(seeds)
        for _ in range(chance.choice((1, 1, 2, 3, 5))):
            message = _changed(message, seeds, chance)
        yield message[:LONGEST]


def _changed(message: bytes, seeds: list[bytes], chance: random.Random) -> bytes:
    at = chance.randrange(len(message) + 1)
    match chance.randrange(9):
        case 0:
            return message[:at] + bytes((chance.randrange(256),)) + message[at + 1 :]
        case 1:
            return message[:at] + chance.choice(_SIGNS) + message[at:]
        case 2:
            return message[:at] + message[at + chance.choice((1, 1, 2, 4, 10)) :]
        case 3:
            return message + chance.choice(seeds)
        case 4:
            return message[:at] + chance.choice(seeds)
        case 5:
            return re.sub(rb"\d+", b"%d" % chance.choice((0, 1, 5, 6, 39, 255)), message, count=1)
        case 6:
            lines = message.split(b"\r\n")
            lines.insert(chance.randrange(len(lines)), chance.choice(lines))
            return b"\r\n".join(lines)
        case _:
            ends = [found.end() for found in re.finditer(rb"\r\n", message)] or [0]
            place = chance.choice(ends[:4])
            return message[:place] + chance.choice(_LINES) + message[place:]
