"""How many statements were run and how long they took: plain to count, and told to whoever watches every so often."""

from __future__ import annotations

from time import perf_counter

from kith.base import traces

__all__ = ["FIGURES", "note_turn", "noted"]

SLOW_SECONDS = 0.1


class StatementFigures:
    __slots__ = ("count", "long_turns", "seconds", "slow", "turn_seconds")

    def __init__(self) -> None:
        self.count = 0
        self.slow = 0
        self.seconds = 0.0
        self.turn_seconds = 0.0  # in which one session kept all others from writing
        self.long_turns = 0

    def take(self) -> tuple[int, int, float]:
        """What came together since the last time."""
        taken = self.count, self.slow, self.seconds
        self.count, self.slow, self.seconds = 0, 0, 0.0
        return taken

    def take_turns(self) -> tuple[int, float]:
        """How many turns of writing took long, and how long all took, since the last time."""
        taken = self.long_turns, self.turn_seconds
        self.long_turns, self.turn_seconds = 0, 0.0
        return taken


FIGURES = StatementFigures()


def note_turn(took: float) -> None:
    """A session has written for so long, in which nobody else could."""
    FIGURES.turn_seconds += took
    if took > SLOW_SECONDS:
        FIGURES.long_turns += 1


def noted(began: float) -> None:
    """A statement that began then has ended now."""
    took = perf_counter() - began
    FIGURES.count += 1
    FIGURES.seconds += took
    if took > SLOW_SECONDS:
        FIGURES.slow += 1
    if traces.is_on():
        traces.note_statement(took)
