"""Imported before all else by what runs for long: libraries that load others, for what no server does, load less.

structlog would load rich (5 MB), for tracebacks that are never printed; commands that show tables load rich by
themselves, as ever. prometheus_client would load Python's web servers and clients (3 MB), to hand out numbers itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys

__all__: list[str] = []


def _load_without_rich() -> None:
    sys.modules["rich"] = None  # type: ignore[assignment] # which Python takes for "there is none"
    try:
        importlib.import_module("structlog")
    finally:
        del sys.modules["rich"]


def _load_in_parts(name: str) -> None:
    """Put the package in place without running it, so that its modules can be loaded one by one.

    Whoever asks the package itself for something else makes it load as a whole.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return
    loader, package = spec.loader, importlib.util.module_from_spec(spec)

    def load_whole(asked: str) -> object:
        if importlib.util.find_spec(f"{name}.{asked}"):
            raise AttributeError(asked)  # one of its modules, which Python looks for next
        del package.__dict__["__getattr__"]
        loader.exec_module(package)
        return getattr(package, asked)

    package.__dict__["__getattr__"] = load_whole
    sys.modules[name] = package


if "structlog" not in sys.modules and "rich" not in sys.modules:
    _load_without_rich()
if "prometheus_client" not in sys.modules:
    _load_in_parts("prometheus_client")
