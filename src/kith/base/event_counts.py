"""How often each kind of event was recorded: counted plainly, for commands load nothing that tells of numbers."""

from __future__ import annotations

from collections import Counter

__all__ = ["count_event", "take_events"]

MOST_ACTIONS = 200

_actions: set[str] = set()
_counts: Counter[str] = Counter()


def count_event(action: str) -> None:
    """By its action. Expressions make up actions of their own; after the first hundreds these are all one."""
    if action not in _actions:
        if len(_actions) >= MOST_ACTIONS:
            action = "other"
        _actions.add(action)
    _counts[action] += 1


def take_events() -> Counter[str]:
    """Those since the last time."""
    taken = _counts.copy()
    _counts.clear()
    return taken
