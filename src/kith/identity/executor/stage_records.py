"""Where the records of every kind of stage are kept."""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.rest.shelf import Shelf
from kith.identity.rest.verbs import render
from kith.identity.stages import collections

STAGE_SHELVES: dict[str, Shelf] = {
    resource.kind: Shelf(resource) for resource in collections.RESOURCES if resource.kind
}


async def find_stage(work: Work, kind: str, stage_uuid: str) -> dict[str, Any] | None:
    """A stage as the API shows it; its secrets are not in it."""
    row = await work.db.one(STAGE_SHELVES[kind].one_by_row, id=stage_uuid)
    if row is None:
        return None
    [record] = await render(STAGE_SHELVES[kind], work, [row], sees_secrets=False)
    return record
