"""How far a synchronisation is, and what it has changed."""

from __future__ import annotations

from typing import Any

import msgspec

MOST_NOTES = 100


class ChangeCounts(msgspec.Struct):
    create: int = 0
    update: int = 0
    delete: int = 0


class SyncProgress(msgspec.Struct):
    """`notes` are for staff: what was left out, and why. A rehearsal remembers whom it has seen."""

    run: str
    phase: str = "groups"
    users: ChangeCounts = msgspec.field(default_factory=ChangeCounts)
    groups: ChangeCounts = msgspec.field(default_factory=ChangeCounts)
    read_users: int = 0
    read_groups: int = 0
    notes: list[str] = msgspec.field(default_factory=list)
    more_notes: int = 0
    seen_users: set[str] = msgspec.field(default_factory=set)
    seen_groups: set[str] = msgspec.field(default_factory=set)
    said_memberships: bool = False

    def note(self, words: str) -> None:
        if len(self.notes) < MOST_NOTES:
            self.notes.append(words.replace("\0", "")[:300])
        else:
            self.more_notes += 1

    def counts(self) -> dict[str, Any]:
        return {"users": msgspec.structs.asdict(self.users), "groups": msgspec.structs.asdict(self.groups)}

    def told(self) -> dict[str, Any]:
        return {**self.counts(), "read": {"users": self.read_users, "groups": self.read_groups}}
