"""What statuses say, as plain text: for search and filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import and_, select

from kith.base.db import Session, any_of, query
from kith.base.unicode import normal_form
from kith.social.ids import StatusId
from kith.social.media.tables import media
from kith.social.statuses.tables import polls, statuses
from kith.social.text.html import plain


class _Row(NamedTuple):
    id: StatusId
    spoiler_text: str
    content: str
    media_ids: list[int]
    poll_id: int | None


_rows = query(
    select(statuses.c.id, statuses.c.spoiler_text, statuses.c.content, statuses.c.media_ids, statuses.c.poll_id)
    .where(and_(any_of(statuses.c.id, "ids"), statuses.c.deleted_at.is_(None), statuses.c.reblog_of_id.is_(None)))
    .order_by(statuses.c.id),
    tuple,
)
_descriptions = query(select(media.c.id, media.c.description).where(any_of(media.c.id, "ids")), tuple)
_options = query(select(polls.c.id, polls.c.options).where(any_of(polls.c.id, "ids")), tuple)


async def texts_of(db: Session, ids: Sequence[int]) -> dict[StatusId, list[str]]:
    """The warning, the text, the descriptions of media and the options of the poll; boosts say nothing themselves."""
    rows = [_Row(*row) for row in await db.all(_rows, ids=list(ids))] if ids else []
    described = await _by_id(db, _descriptions, [id for row in rows for id in row.media_ids])
    options = await _by_id(db, _options, [row.poll_id for row in rows if row.poll_id is not None])
    return {
        row.id: [
            normal_form("NFC", text)
            for text in (
                row.spoiler_text,
                plain(row.content),
                *(described[id] for id in row.media_ids if described.get(id)),
                *(str(option) for option in options.get(row.poll_id or 0, ())),
            )
        ]
        for row in rows
    }


async def _by_id(db: Session, statement: Any, ids: Sequence[int]) -> dict[int, Any]:
    return dict(await db.all(statement, ids=list(ids))) if ids else {}
