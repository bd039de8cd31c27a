"""Our own source texts, for tests that read them."""

from __future__ import annotations

import ast
import gc
from pathlib import Path

__all__ = ["tree_of"]


def tree_of(path: Path) -> ast.Module:
    """Python 3.11 may lose count while it builds a tree if garbage is collected meanwhile, so none is."""
    gc.disable()
    try:
        return ast.parse(path.read_text())
    finally:
        gc.enable()
