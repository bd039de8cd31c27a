"""Names with brackets, as forms and query strings carry nested values.

`poll[options][]=a` appends, `source[privacy]=x` nests, `fields[0][name]=n` is an object with the key "0"
(whoever expects a list there reads it as one), `a[][x]=1&a[][x]=2` starts a new element when a key repeats.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from kith.base.errors import Malformed
from kith.base.params.limits import LIMITS, BodyLimits

__all__ = ["nest", "read_form", "split_pairs"]

_NAME = re.compile(r"([^\[\]]+)\[((?:[^\[\]]*\]\[)*[^\[\]]*)\]")
_BROKEN_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_CONTAINERS = (dict, list)


def read_form(raw: bytes, limits: BodyLimits = LIMITS) -> dict[str, Any]:
    """Read `a=1&b[c]=2`, the text of a query string or of a form body."""
    return nest(split_pairs(raw, limits), limits) if raw else {}


def split_pairs(raw: bytes, limits: BodyLimits = LIMITS) -> list[tuple[str, str]]:
    if raw.count(b"&") >= limits.count:
        raise Malformed(f"There are more than {limits.count} parameters")
    try:
        text = raw.decode()
        if "%" in text or "+" in text:
            return _decoded(text)
    except UnicodeDecodeError as error:
        raise Malformed("The parameters are not valid UTF-8") from error
    _refuse_nul(text)
    return [(name, value) for name, _, value in [piece.partition("=") for piece in text.split("&")] if name]


def _decoded(text: str) -> list[tuple[str, str]]:
    if _BROKEN_PERCENT.search(text):
        raise Malformed("The parameters hold an incomplete percent-encoding")
    pairs = []
    for piece in text.replace("+", " ").split("&"):
        name, _, value = piece.partition("=")
        if name:
            pairs.append((unquote(name, errors="strict"), unquote(value, errors="strict")))
    for name, value in pairs:
        _refuse_nul(name)
        _refuse_nul(value)
    return pairs


def _refuse_nul(text: str) -> None:
    if "\0" in text:
        raise Malformed("The parameters hold a NUL character")


def nest(pairs: Sequence[tuple[str, Any]], limits: BodyLimits = LIMITS) -> dict[str, Any]:
    """Build the nested value that `pairs` describe; of a name given twice, the last value stays."""
    if len(pairs) > limits.count:
        raise Malformed(f"There are more than {limits.count} parameters")
    root: dict[str, Any] = {}
    for name, value in pairs:
        if len(name) > limits.name_length:
            raise Malformed(f"A parameter's name is longer than {limits.name_length} characters")
        if "[" in name:
            _place(root, _path(name, limits), value)
        elif isinstance(root.get(name), _CONTAINERS):
            raise _conflict(name)
        else:
            root[name] = value
    return root


def _path(name: str, limits: BodyLimits) -> list[str]:
    """`a[b][]` is a, b and an empty key; a name whose brackets do not pair up is one plain key."""
    match = _NAME.fullmatch(name)
    if match is None:
        return [name]
    path = [match[1], *match[2].split("][")]
    if len(path) > limits.depth:
        raise Malformed(f"The parameters are nested deeper than {limits.depth} levels")
    return path


def _place(node: Any, path: list[str], value: Any) -> None:
    """Put `value` at `path`; `node` is a list where the path starts with an empty key, else an object."""
    key, rest = path[0], path[1:]
    if not rest:
        if isinstance(node, list):
            node.append(value)
        elif isinstance(node.get(key), _CONTAINERS):
            raise _conflict(key)
        else:
            node[key] = value
        return
    shape: type[dict[Any, Any]] | type[list[Any]] = list if rest[0] == "" else dict
    if isinstance(node, list):
        child = _element(node, rest, shape)
    else:
        child = node.setdefault(key, shape())
        if not isinstance(child, shape):
            raise _conflict(key)
    _place(child, rest, value)


def _element(elements: list[Any], rest: list[str], shape: type[dict[Any, Any]] | type[list[Any]]) -> Any:
    last = elements[-1] if elements else None
    if shape is dict and isinstance(last, dict) and not _has(last, rest):
        return last
    elements.append(shape())
    return elements[-1]


def _has(element: Any, path: list[str]) -> bool:
    if "" in path:
        return False
    for key in path:
        if not isinstance(element, dict) or key not in element:
            return False
        element = element[key]
    return True


def _conflict(key: str) -> Malformed:
    return Malformed(f"The parameter {key!r} is sent in two different shapes")
