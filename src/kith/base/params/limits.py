"""How much of a request is read before it is refused."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LIMITS", "NO_FILES", "BodyLimits"]


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """`max_bytes` bounds a JSON or form body and all text of a multipart one, `max_file_bytes` all its files.

    With `max_files` 0 files are not kept at all, and count as text. `count` bounds the names of a form, `values` all
    that stands in a JSON body. A single text has a bound of its own (`values.MOST_BYTES`), whatever it came in.
    """

    max_bytes: int = 256 * 1024
    max_file_bytes: int = 100 * 1024 * 1024
    max_files: int = 8
    depth: int = 8
    count: int = 1000
    values: int = 20_000
    name_length: int = 256


LIMITS = BodyLimits()
NO_FILES = BodyLimits(max_files=0)
