from __future__ import annotations

import msgspec

__all__ = ["Loose"]


class Loose(msgspec.Struct):
    """An object inside another that is dropped where it is empty, or where something else stands in its place.

    What stands in it is checked as everywhere.
    """
