"""What MkDocs asks of us while it builds the documentation."""
# ruff: noqa: INP001 - MkDocs finds it by its path

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Pages that are named and not there are left out; the decisions are all that are there."""
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
            kept.append({title: sorted(str(one.relative_to(folder)) for one in (folder / inner).glob("*.md"))})
        elif (folder / inner).is_file():
            kept.append(entry)
    return kept
