"""How rows are copied."""

from __future__ import annotations

import msgspec

__all__ = ["CopyOptions"]


class CopyOptions(msgspec.Struct, frozen=True):
    """`is_rehearsal` finds all that is wrong; else the first batch that does not fit ends it."""

    is_rehearsal: bool = False
    is_dropping_nul: bool = False
