"""Groups as sources know them."""

from __future__ import annotations

from typing import Any

import msgspec


class SourceGroup(msgspec.Struct, frozen=True):
    """`attributes` are for a group that is new here."""

    identifier: str
    name: str
    attributes: dict[str, Any] = {}
