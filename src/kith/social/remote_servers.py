"""Names of servers, as blocks of them are read: a block of a name holds for all of its ports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, and_, func, literal_column, or_

__all__ = ["has_port", "is_of_server", "is_port_of", "names_above", "without_port"]

_PORT = re.compile(r":[0-9]+\Z")


def without_port(domain: str) -> str:
    return _PORT.sub("", domain)


def names_above(domain: str) -> Iterator[str]:
    """A domain, then those above it, the most specific first; each with the port, where one is named, then without."""
    name = without_port(domain.lower())
    port = domain[len(name) :]
    while name:
        if port:
            yield name + port
        yield name
        name = name.partition(".")[2]


def has_port(domain: ColumnElement[Any]) -> ColumnElement[bool]:
    """Asked first: of almost all servers none is named."""
    return domain.like(literal_column("'%:%'"))


def is_port_of(domain: ColumnElement[Any], name: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether `domain` is `name` with a port."""
    start = func.substr(domain, literal_column("1"), func.length(name) + literal_column("1"))
    return start == name.concat(literal_column("':'"))


def is_of_server(domain: ColumnElement[Any], name: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether somebody at `domain` is of the server that `name` means: the same name, or one of its ports."""
    return or_(domain == name, and_(has_port(domain), is_port_of(domain, name)))
