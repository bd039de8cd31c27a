"""Pieces of answers that were made once and are put together again and again.

A piece is known by what it is of and the version it shows, so it is never stale; whoever asks brings the version.
Under its limit everything is kept; above it, what was asked for least recently goes.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["Fragments"]

Piece = TypeVar("Piece")

OVERHEAD_BYTES = 300


class Fragments(Generic[Piece]):
    """Two generations: what is used moves to the young one; when that is full, the old one is forgotten."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes // 2
        self._young: dict[Hashable, tuple[Piece, int]] = {}
        self._old: dict[Hashable, tuple[Piece, int]] = {}
        self._bytes = 0

    def get(self, key: Hashable) -> Piece | None:
        found = self._young.get(key)
        if found is not None:
            return found[0]
        found = self._old.pop(key, None)
        if found is None:
            return None
        self._keep(key, found)
        return found[0]

    def put(self, key: Hashable, piece: Piece, size: int) -> None:
        self._keep(key, (piece, size + OVERHEAD_BYTES))

    def _keep(self, key: Hashable, held: tuple[Piece, int]) -> None:
        if self._bytes + held[1] > self._most:
            self._old, self._young, self._bytes = self._young, {}, 0
        self._young[key] = held
        self._bytes += held[1]
