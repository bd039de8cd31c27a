"""Names of a large library, loaded when one of them is first asked for: a server that does nothing has none of it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["load_late"]


def load_late(module: dict[str, Any], places: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """The `__getattr__` of the module with these globals; `places` says what comes from where.

    Python calls it for names that the module does not have yet. What was found is kept in the module, so every name is
    looked for once, and is as quick as any other from then on.
    """
    place_of = {name: place for place, names in places.items() for name in names}

    def find(name: str) -> Any:
        place = place_of.get(name)
        if place is None:
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        try:
            found = getattr(importlib.import_module(place), name)
        except AttributeError:  # a module of its own
            found = importlib.import_module(f"{place}.{name}")
        module[name] = found
        return found

    return find
