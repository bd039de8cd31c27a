"""What is shown as the header of somebody who has none: a quiet ground."""

from __future__ import annotations

import struct
import zlib
from functools import cache

_GROUND = bytes((0xD9, 0xDD, 0xE8))
WIDTH, HEIGHT = 75, 25


@cache
def header() -> bytes:
    """A PNG of one colour."""
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0)
    points = zlib.compress((b"\0" + bytes(WIDTH)) * HEIGHT, 9)
    parts = ((b"IHDR", head), (b"PLTE", _GROUND), (b"IDAT", points), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, body) for name, body in parts)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
