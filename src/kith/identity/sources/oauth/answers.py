"""What other services say, made fit to be kept: anybody can have a server of the fediverse."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["cleaned"]

MOST_DEPTH = 20
MOST_NUMBER = 2**53  # beyond which numbers in JSON are not exact


def cleaned(value: Any, depth: int = 0) -> Any:
    """The same without what databases cannot keep: zero characters, half characters, and numbers without an end."""
    match value:
        case str():
            return value.replace("\0", "").encode("utf-8", "ignore").decode()
        case bool() | None:
            return value
        case int():
            return value if abs(value) <= MOST_NUMBER else None
        case float():
            return value if math.isfinite(value) else None
        case dict() if depth < MOST_DEPTH:
            return {cleaned(str(name)): cleaned(one, depth + 1) for name, one in value.items()}
        case list() if depth < MOST_DEPTH:
            return [cleaned(one, depth + 1) for one in value]
    return None
