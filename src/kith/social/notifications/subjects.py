"""What a notification is about where that is no status: a port. Rooms above know how it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from kith.base.work import Work
from kith.social.ids import AccountId

# Under which key each is shown.
KEYS = {
    "admin.report": "report", "moderation_warning": "moderation_warning", "severed_relationships": "event",
    "added_to_collection": "collection", "collection_update": "collection",
}  # fmt: skip


class Subjects(Protocol):
    """Of the team's business."""

    async def render(self, work: Work, type: str, ids: Sequence[int], me: AccountId) -> Mapping[int, bytes]:
        """Those that are still there and that `me` may read now, by id; `type` is one of `KEYS`."""
        ...


class CollectionSubjects(Protocol):
    async def render(self, work: Work, type: str, ids: Sequence[int], me: AccountId) -> Mapping[int, bytes]: ...


def _port(work: Work, type: str) -> Subjects:
    if KEYS[type] == "collection":
        return work.find(CollectionSubjects)  # type: ignore[type-abstract]
    return work.find(Subjects)  # type: ignore[type-abstract]


def is_hollow(type: str, subject: bytes | None) -> bool:
    """A report is told of with the report or not at all: whoever is in the team no more reads of none."""
    return type == "admin.report" and subject is None


async def render_all(
    work: Work, wanted: Sequence[tuple[str, int | None]], me: AccountId
) -> dict[tuple[str, int], bytes]:
    """By type and id. Most pages have none, and cost nothing."""
    by_type: dict[str, list[int]] = {}
    for type, id in wanted:
        if id is not None and type in KEYS:
            by_type.setdefault(type, []).append(id)
    found: dict[tuple[str, int], bytes] = {}
    for type, ids in by_type.items():
        shown = await _port(work, type).render(work, type, list(dict.fromkeys(ids)), me)
        found |= {(type, id): one for id, one in shown.items()}
    return found
