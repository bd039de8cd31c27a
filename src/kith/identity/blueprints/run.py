"""One application of blueprints: what it works with, and what has come of it so far."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from kith.base.work import Work
from kith.identity.caller import ApiCaller

__all__ = ["BlueprintRun", "Change", "FieldChange", "NewPassword"]

MOST_WARNINGS = 200


class FieldChange(msgspec.Struct, frozen=True):
    """As people may see it: secrets are stars."""

    field: str
    before: Any
    after: Any


class Change(msgspec.Struct, frozen=True):
    action: Literal["added", "changed", "removed"]
    model: str
    name: str
    fields: tuple[FieldChange, ...] = ()


class NewPassword(msgspec.Struct, frozen=True):
    """A password of a blueprint, hashed before anything is written. `is_known`: its person is there already."""

    text: str
    hashed: str
    is_known: bool

    def __repr__(self) -> str:
        return "NewPassword(...)"


class BlueprintRun:
    def __init__(self, work: Work, caller: ApiCaller, *, is_rehearsal: bool = False) -> None:
        self.work = work
        self.caller = caller
        self.is_rehearsal = is_rehearsal  # nothing outside the database is to be touched
        self.changes: list[Change] = []
        self.warnings: list[str] = []
        self.models: set[str] = set()
        self.password: NewPassword | None = None  # of the entry at hand
        self.passwords: dict[int, str] = {}  # those of people who were there already, as they were written, by person
        # What models made ready before anything was written, by their names.
        self.prepared: dict[str, Any] = {}
        # What models keep for the time of the run, by their names.
        self.listed: dict[str, Any] = {}

    def warn(self, words: str) -> None:
        if words not in self.warnings and len(self.warnings) < MOST_WARNINGS:
            self.warnings.append(words)
