"""What goes into an expression, and its result."""

from __future__ import annotations

from typing import Any

import msgspec


class ExpressionObject(dict[str, Any]):
    """A value whose items an expression can read as attributes too: `user.name`, `user["name"]`."""


class ExpressionResult(msgspec.Struct, frozen=True):
    """What an expression returned, its messages and what it printed; with an `error` there is no value."""

    value: Any = None
    messages: list[str] = []
    log: list[str] = []
    error: str | None = None
