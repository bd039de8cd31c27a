"""A name means one thing: no two public classes of Kith are called the same."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import kith
from tests.sources import tree_of

SOURCES = Path(kith.__file__).parent


def test_no_two_public_classes_have_one_name() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCES.rglob("*.py")):
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(SOURCES)))

    twice = {name: places for name, places in found.items() if len(places) > 1}

    assert twice == {}
