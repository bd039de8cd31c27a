from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, select, update

from kith.base.db import Session, command, query, upsert
from kith.social.statuses.tables import cards, statuses


class Card(msgspec.Struct):
    id: int
    url_hash: str
    url: str
    data: dict[str, Any]
    fetched_at: datetime


_by_hash = query(select(cards).where(cards.c.url_hash == bindparam("hash")), Card)
_new = upsert(cards).values({column.name: bindparam(column.name, type_=column.type) for column in cards.columns})
_save = query(
    _new.on_conflict_do_update(
        index_elements=[cards.c.url_hash],
        set_={"data": _new.excluded.data, "fetched_at": _new.excluded.fetched_at},
    ).returning(cards.c.id),
    int,
)
_shown_anew = command(
    update(statuses).where(statuses.c.card_id == bindparam("card")).values(version=statuses.c.version + 1)
)


async def find(db: Session, url_hash: str) -> Card | None:
    return await db.one(_by_hash, hash=url_hash)


async def save(db: Session, card: Card) -> int:
    """The id it has: of two who save the same address, both have the first one's."""
    saved = await db.one(_save, **{name: getattr(card, name) for name in Card.__struct_fields__})
    return card.id if saved is None else saved


async def show_anew(db: Session, card_id: int) -> None:
    """Every post that shows it shows something else from now on."""
    await db.run(_shown_anew, card=card_id)
