"""Addresses of everything that the server answers to GET, made from its own list of routes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from kith.app import ROUTES
from kith.base.routing import AnswerShape, Route

__all__ = ["addresses", "get_templates", "is_stream"]

_GAP = re.compile(r"\{([a-z_]+)(?::path)?\}")
Values = Mapping[str, Sequence[str]]


def get_templates() -> list[tuple[str, Route]]:
    """Every template that takes GET, with the route that it belongs to. Sockets are left out."""
    return [
        (template, route)
        for route in ROUTES
        if "GET" in route.methods and route.shape is not AnswerShape.SOCKET
        for template in (route.template, *route.aliases)
    ]


def is_stream(route: Route) -> bool:
    """Whether the answer may go on for as long as somebody listens."""
    return route.shape is AnswerShape.STREAM


def addresses(template: str, values: Values, *, most: int) -> Iterator[str]:
    """`template` with its gaps filled in, at most `most` times.

    What stands before a gap says best what belongs into it (`accounts/{id}`), then the gap's own name (`{id}`).
    """
    pieces = _GAP.split(template)
    choices = []
    for before, gap in zip(pieces[::2], pieces[1::2], strict=False):
        word = before.rstrip("/@").rpartition("/")[2]
        choices.append([*values.get(f"{word}/{gap}", ()), *values.get(gap, ())] or ["1"])
    for filled in itertools.islice(itertools.product(*choices), most):
        texts = [quote(one, safe="/@") for one in filled]
        yield "".join(itertools.chain.from_iterable(itertools.zip_longest(pieces[::2], texts, fillvalue="")))
