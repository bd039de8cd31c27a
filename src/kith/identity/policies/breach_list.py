"""The list of breached passwords in a local file: the published text ordered by hash, or a folder of its ranges.

The text has some 40 GB, so it is searched by bisection. Everything here reads from disk: call it in a thread.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import BinaryIO

_LINE = re.compile(rb"([0-9A-Fa-f]{40}):([0-9]{1,15})\s*\Z")
_LONGEST = 80
_MOST_RANGE_BYTES = 4 << 20
_SAMPLES = 64


class BadList(Exception):  # noqa: N818 - it is the list that is bad
    """The file is not the list, or not complete; the message contains no hash."""


def count_of(place: Path, digest: str) -> int:
    """How often the password of this SHA-1 digest (upper case) was seen; 0 if never. May raise `OSError`, `BadList`."""
    if place.is_dir():
        return count_in_range(_range_file(place, digest[:5]), digest[5:])
    with place.open("rb") as file:
        line = _line_at(file, _first_not_before(file, digest.encode()))
    found, count = _parts(line) if line else (b"", 0)
    return count if found == digest.encode() else 0


def count_in_range(text: str, suffix: str) -> int:
    """The same in the text of a range, whose lines lack the first five letters. Padding has a count of zero."""
    for line in text.splitlines():
        found, _, count = line.strip().partition(":")
        if found.upper() == suffix:
            return int(count) if count.isascii() and count.isdigit() and len(count) < 16 else 0
    return 0


def examine(place: Path) -> None:
    """Check a sample of lines from the whole file; raises what `count_of` would."""
    if place.is_dir():
        for prefix in ("00000", "5BAA6", "FFFFF"):
            _range_file(place, prefix)
        return
    with place.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        lines = [_line_at(file, size * number // _SAMPLES) for number in range(_SAMPLES)]
    hashes = [_parts(line)[0] for line in lines if line]
    if not hashes:
        raise BadList("it is empty")
    if hashes != sorted(hashes):
        raise BadList("it is not ordered by hash")


def _first_not_before(file: BinaryIO, wanted: bytes) -> int:
    """The position after which the first line is the first that is not before `wanted`."""
    low, high = 0, file.seek(0, os.SEEK_END)
    while low < high:
        middle = (low + high) // 2
        line = _line_at(file, middle)
        if line and _parts(line)[0] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def _line_at(file: BinaryIO, place: int) -> bytes:
    """The first line that begins at or after `place`; empty at the end."""
    file.seek(max(place - 1, 0))
    if place:
        file.readline(_LONGEST)
    return file.readline(_LONGEST)


def _parts(line: bytes) -> tuple[bytes, int]:
    match = _LINE.fullmatch(line)
    if match is None:
        raise BadList("a line is not of the form SHA1:COUNT")
    return match[1].upper(), int(match[2])


def _range_file(folder: Path, prefix: str) -> str:
    for name in (prefix, f"{prefix}.txt", prefix.lower(), f"{prefix.lower()}.txt"):
        path = folder / name
        if path.is_file():
            with path.open("rb") as file:
                return file.read(_MOST_RANGE_BYTES).decode("ascii", "replace")
    raise BadList("a range is missing")
