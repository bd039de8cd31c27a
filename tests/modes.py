"""Which run this is: the usual one, everything there is (`scripts/test --all`), or what is near a change (`--quick`)."""

from __future__ import annotations

import os
from typing import Literal

__all__ = ["USUAL_MINUTES", "Mode", "is_all", "mode", "said_of", "sized"]

Mode = Literal["usual", "all", "quick"]

# How long each usually takes on two cores, after installation.
USUAL_MINUTES: dict[Mode, float] = {"usual": 16, "all": 75, "quick": 2}

_SAID: dict[Mode, str] = {
    "usual": "Every test on SQLite, and on PostgreSQL where the two can differ",
    "all": "Every test on both databases, with more examples",
    "quick": "The tests nearest to what was changed, on SQLite",
}


def mode() -> Mode:
    found = os.environ.get("KITH_TEST_MODE", "usual")
    return "all" if found == "all" else "quick" if found == "quick" else "usual"


def is_all() -> bool:
    return mode() == "all"


def sized(usual: int, everything: int) -> int:
    """How many of something are tried, in this run."""
    return everything if is_all() else usual


def said_of(which: Mode) -> str:
    return f"{_SAID[which]}: about {USUAL_MINUTES[which]:g} minutes on two cores."
