"""What was asked, what was accepted, and so what must be there: kept in memory and, line by line, on disk."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import msgspec

__all__ = ["Ledger", "Post", "Violation"]

_LATENCIES = 20_000  # of each kind; the newest ones
_SHOWN = 50  # violations of one kind that are kept with their words


class Violation(msgspec.Struct, frozen=True):
    at: float
    rule: str
    words: str


class Post(msgspec.Struct):
    """A status somebody has asked to be posted. Found again by its mark, a word that no other has."""

    mark: str
    site: str
    author: str
    key: str
    sent: dict[str, Any]
    asked_at: float
    id: str | None = None
    uri: str | None = None
    there: bool | None = None  # None: nobody knows, as the answer was lost
    text: str | None = ""  # as last edited; None: nobody knows
    mentions: tuple[str, ...] = ()
    is_settled: bool = False  # it was looked for, and found where it must be


class Ledger:
    def __init__(self, file: Path) -> None:
        self._file = file.open("a", buffering=1)
        self.started_at = time.monotonic()
        self.answers: Counter[tuple[str, str]] = Counter()  # kind; status, or why there was none
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.posts: dict[str, Post] = {}
        self.marks: dict[tuple[str, str, str], bool | None] = {}  # verb, who, the mark or the name of whom
        self.things: dict[tuple[str, str], bool | None] = {}  # kind and name
        self.revoked: dict[str, bool | None] = {}  # tokens, and whether they are
        self.violations: list[Violation] = []
        self.counted: Counter[str] = Counter()
        self.faults: list[dict[str, Any]] = []
        self.figures: dict[str, Any] = {}

    @property
    def now(self) -> float:
        return time.monotonic() - self.started_at

    def write(self, **said: Any) -> None:
        self._file.write(json.dumps({"at": round(self.now, 3)} | said, default=str) + "\n")

    def answered(self, kind: str, outcome: str, seconds: float, **said: Any) -> None:
        self.answers[kind, outcome] += 1
        kept = self.seconds[kind]
        kept.append(seconds)
        if len(kept) > _LATENCIES:
            del kept[: _LATENCIES // 2]
        if said:
            self.write(kind=kind, outcome=outcome, seconds=round(seconds, 4), **said)

    def violated(self, rule: str, words: str) -> None:
        self.counted[rule] += 1
        if self.counted[rule] <= _SHOWN:
            self.violations.append(Violation(round(self.now, 1), rule, words))
            self.write(violation=rule, words=words)

    def set(self, verb: str, who: str, what: str, state: bool | None) -> None:
        self.marks[verb, who, what] = state
        self.write(mark=verb, who=who, what=what, state=state)

    def note(self, kind: str, name: str, state: bool | None) -> None:
        self.things[kind, name] = state
        self.write(thing=kind, name=name, state=state)

    def close(self) -> None:
        self._file.close()
