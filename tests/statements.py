"""Every statement that Kith declares, found by looking."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

import kith
from kith.base.db.statement import Statement

__all__ = ["all_statements", "loaded_statements"]


def all_statements() -> dict[str, Statement[Any]]:
    """Statements of all modules, also those within a dictionary, a list or a struct."""
    for part in pkgutil.walk_packages(kith.__path__, "kith."):
        if ".migrations." not in part.name and not part.name.endswith("__main__"):
            importlib.import_module(part.name)
    return loaded_statements()


def loaded_statements() -> dict[str, Statement[Any]]:
    """Statements of the modules that this process has loaded."""
    found: dict[str, Statement[Any]] = {}
    known: set[int] = set()
    for name, module in sorted(sys.modules.items()):
        if name.startswith("kith."):
            for key, value in list(vars(module).items()):
                for place, statement in enumerate(_within(value)):
                    if id(statement) not in known:
                        known.add(id(statement))
                        found[f"{name}.{key}" + (f"[{place}]" if statement is not value else "")] = statement
    return found


def _within(value: object, depth: int = 0) -> Iterator[Statement[Any]]:
    if isinstance(value, Statement):
        yield value
        return
    parts: Iterable[object] = ()
    if isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, (list, tuple)):
        parts = value
    elif isinstance(value, msgspec.Struct):
        parts = [getattr(value, name) for name in value.__struct_fields__]
    if depth < 3:
        for part in parts:
            yield from _within(part, depth + 1)
