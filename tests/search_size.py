"""How much of a search by machine is done: a small part with every run, all of it where that is asked for."""

from __future__ import annotations

import os

__all__ = ["is_whole_search"]


def is_whole_search() -> bool:
    """`KITH_TEST_SEARCH=whole scripts/test ...` searches everything, which may take an hour."""
    return os.environ.get("KITH_TEST_SEARCH") == "whole"
