"""What goes into an expression, and what comes out of it."""

from __future__ import annotations

from typing import Any

import msgspec


class ExpressionObject(dict[str, Any]):
    """Something an expression may ask by attribute as well as by key: `user.name`, `user["name"]`."""


class ExpressionResult(msgspec.Struct, frozen=True):
    """What an expression returned, said and printed; with an `error` there is no value."""

    value: Any = None
    messages: list[str] = []
    log: list[str] = []
    error: str | None = None
