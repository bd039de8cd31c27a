"""The log, for modules that every command loads: structlog is loaded with the first line that is written."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["Logger", "is_configured"]


class Logger:
    """Its methods are those of `structlog.get_logger()`."""

    def __getattr__(self, name: str) -> Any:
        import structlog  # noqa: PLC0415 - loaded when first used

        return getattr(structlog.get_logger(), name)


def is_configured() -> bool:
    """Whether this process writes a log: a server does, a command does not."""
    if "structlog" not in sys.modules:
        return False
    import structlog  # noqa: PLC0415 - loaded by now

    return structlog.is_configured()
