"""What MkDocs asks of us while it builds the documentation."""
# ruff: noqa: INP001 - MkDocs finds it by its path

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Pages that are named and not there are left out; of the decisions all are shown, their index first."""
    folder = Path(config["docs_dir"])
    config["nav"] = _there(config["nav"], folder)
    return config


def _there(entries: list[Any], folder: Path) -> list[Any]:
    kept: list[Any] = []
    for entry in entries:
        [(title, inner)] = entry.items()
        if isinstance(inner, list):
            kept.append({title: _there(inner, folder)})
        elif inner.endswith("/"):
            pages = sorted((folder / inner).glob("*.md"), key=lambda one: (one.name != "README.md", one.name))
            kept.append({title: [str(one.relative_to(folder)) for one in pages]})
        elif (folder / inner).is_file():
            kept.append(entry)
    return kept
