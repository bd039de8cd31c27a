"""What every step of a move needs: the staged rows, our settings, and what was decided before the first step."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from typing import Any

import msgspec

from kith.base.blobs import Blobs
from kith.base.settings import Settings
from kith.cli.imports.mastodon.rails import Secrets
from kith.cli.imports.mastodon.staging import Row, Staging
from kith.cli.imports.running import Batch, RunStep

__all__ = ["Move", "RowBatch", "step"]

AT_ONCE = 500
RowBatch = Batch[Row]


class Move(msgspec.Struct, kw_only=True):
    staging: Staging
    settings: Settings
    secrets: Secrets
    media: Blobs | None  # where its files are; without it none are taken
    started_at: datetime
    # By Mastodon's number of a role: what its holders are to the identity half, and the role of ours, if it has one.
    roles: dict[int, tuple[str, int | None]] = {}

    def actor_uri(self, number: int, username: str, id_scheme: str | None) -> str:
        """By which others know somebody who lives there: the name, or the number where the release has begun so."""
        if id_scheme == "1":
            return f"{self.settings.base_url}/ap/users/{number}"
        return f"{self.settings.base_url}/users/{username}"


def step(
    move: Move, name: str, rows: str, take: Callable[[Move, RowBatch], Awaitable[None]], *, at_once: int = AT_ONCE
) -> RunStep[Row]:
    """`rows` is what stands behind `SELECT`: columns, tables and conditions, with `t` the table whose ids count.

    Every statement ends with a condition, to which the place is added.
    """
    statement = f"SELECT {rows} AND t.id > :after ORDER BY t.id LIMIT :most"

    def batches(place: int) -> Iterator[tuple[int, list[Row]]]:
        for some in move.staging.batches(statement, place, at_once):
            yield some[-1]["id"], some

    async def take_some(batch: Batch[Any]) -> None:
        await take(move, batch)

    total = move.staging.one(f"SELECT count(*) FROM (SELECT {rows})")
    return RunStep(name, total, batches, take_some)
