"""Statements are built when they are first run; here all of them are, so that none is found wrong later."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import kith
from kith.base.db.statement import Statement


def _declared() -> Iterator[tuple[str, Statement[object]]]:
    for found in pkgutil.walk_packages(kith.__path__, "kith."):
        if ".migrations.versions" in found.name or found.name.endswith((".env", "__main__")):
            continue
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            if isinstance(value, Statement):
                yield f"{found.name}.{name}", value


def test_every_statement_that_a_module_declares_compiles_for_both_databases() -> None:
    wrong: dict[str, str] = {}
    count = 0
    for name, statement in _declared():
        count += 1
        for dialect in ("sqlite", "postgresql"):
            try:
                statement.compiled(dialect)
            except Exception as error:  # noqa: BLE001 - all that are wrong are told at once
                wrong[name] = repr(error)

    assert wrong == {}
    assert count > 300
