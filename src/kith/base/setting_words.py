"""What is wrong with the value of a setting, and which values are right, in words for an operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from kith.base.settings import Settings, label

__all__ = ["complaint"]


def complaint(error: str, values: Mapping[str, object]) -> str:
    """msgspec says "Expected `int` - at `$.processes`"; an operator should read the name and what is right."""
    words, _, path = error.partition(" - at `$.")
    name = path.rstrip("`").split("[")[0]
    if not name:
        return words
    right = _right(get_type_hints(Settings, include_extras=True).get(name))
    return f"{label(name)} must be {right}, not {str(values.get(name))!r}" if right else f"{label(name)}: {words}"


def _right(kind: Any) -> str:
    if get_origin(kind) is Literal:
        *others, last = [str(one) or "empty" for one in get_args(kind)]
        return f"{', '.join(others)} or {last}" if others else last
    bounds = [one for one in get_args(kind)[1:] if isinstance(one, msgspec.Meta)] if _is_annotated(kind) else []
    inner = get_args(kind)[0] if _is_annotated(kind) else kind
    if inner is not int:
        return ""
    least = next((one.ge for one in bounds if one.ge is not None), None)
    most = next((one.le for one in bounds if one.le is not None), None)
    if least is None or most is None:
        return "a whole number" if least is None else f"a whole number, {least} or more"
    return f"a whole number from {least} to {most}"


def _is_annotated(kind: Any) -> bool:
    return get_origin(kind) is Annotated
