"""What is told of an expression never holds what somebody has typed as a password, under whatever name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from kith.identity.audit.service import MASK
from kith.identity.expressions.values import ExpressionResult

__all__ = ["hide", "hide_in_result"]


def hide(value: Any, hidden: Iterable[str]) -> Any:
    """A copy in which these texts are masked, also within others."""
    if isinstance(value, str):
        for one in hidden:
            value = value.replace(one, MASK) if one else value
        return value
    if isinstance(value, Mapping):
        return {hide(key, hidden): hide(item, hidden) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [hide(item, hidden) for item in value]
    return value


def hide_in_result(result: ExpressionResult, hidden: Iterable[str]) -> ExpressionResult:
    """What it returned stays: it is a verdict, or shown to whoever typed the password."""
    return msgspec.structs.replace(
        result, messages=hide(result.messages, hidden), log=hide(result.log, hidden), error=hide(result.error, hidden)
    )
