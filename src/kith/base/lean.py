"""Imported before all else by what runs for long: structlog would load rich, for tracebacks that no server prints.

That is 5 MB. Commands that show tables load rich by themselves, as ever.
"""

from __future__ import annotations

import importlib
import sys

__all__: list[str] = []

if "structlog" not in sys.modules and "rich" not in sys.modules:
    sys.modules["rich"] = None  # type: ignore[assignment] # which Python takes for "there is none"
    try:
        importlib.import_module("structlog")
    finally:
        del sys.modules["rich"]
