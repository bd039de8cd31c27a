from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, select, update

from kith.base.db import Session, any_of, command, query, upsert
from kith.social.ids import AccountId, StatusId
from kith.social.statuses.tables import cards, statuses
from kith.social.versions import changed


class Card(msgspec.Struct):
    id: int
    url_hash: str
    url: str
    data: dict[str, Any]
    creator_id: int | None
    fetched_at: datetime
    image_source: str = ""
    image_bytes: int = 0
    looked_at: datetime | None = None


_RENEWED = ("data", "creator_id", "fetched_at", "image_source", "image_bytes", "looked_at")
_by_id = query(select(cards).where(cards.c.id == bindparam("card")), Card)
_by_hash = query(select(cards).where(cards.c.url_hash == bindparam("hash")), Card)
_new = upsert(cards).values({column.name: bindparam(column.name, type_=column.type) for column in cards.columns})
_save = query(
    _new.on_conflict_do_update(
        index_elements=[cards.c.url_hash],
        set_={name: _new.excluded[name] for name in _RENEWED},
    ).returning(cards.c.id),
    int,
)
_shown_anew = command(update(statuses).where(statuses.c.card_id == bindparam("card")).values(version=changed(statuses)))
_shown = query(select(cards.c.id, cards.c.data, cards.c.creator_id).where(any_of(cards.c.id, "ids")), tuple)
# Page after page, and of each its posts in the order of the index: any number may show the pages of one author.
_crediting = query(
    select(cards.c.id)
    .where(and_(cards.c.creator_id == bindparam("account"), cards.c.id > bindparam("after")))
    .order_by(cards.c.id)
    .limit(1),
    int,
)
_showing = query(
    select(statuses.c.id)
    .where(and_(statuses.c.card_id == bindparam("card"), statuses.c.id > bindparam("after")))
    .order_by(statuses.c.id)
    .limit(bindparam("most")),
    StatusId,
)
_shown_anew_all = command(update(statuses).where(any_of(statuses.c.id, "ids")).values(version=changed(statuses)))


async def find_by_id(db: Session, id: int) -> Card | None:
    return await db.one(_by_id, card=id)


async def find(db: Session, url_hash: str) -> Card | None:
    return await db.one(_by_hash, hash=url_hash)


async def find_shown(db: Session, ids: Sequence[int]) -> list[tuple[int, dict[str, Any], AccountId | None]]:
    """Id, what is kept of it, and whom it names as its author."""
    return await db.all(_shown, ids=list(ids)) if ids else []


async def save(db: Session, card: Card) -> int:
    """The id it has: of two who save the same address, both have the first one's."""
    saved = await db.one(_save, **{name: getattr(card, name) for name in Card.__struct_fields__})
    return card.id if saved is None else saved


async def show_anew(db: Session, card_id: int) -> None:
    """Every post that shows it shows something else from now on."""
    await db.run(_shown_anew, card=card_id)


async def show_credits_anew(
    db: Session, account_id: AccountId, card: int, after: StatusId, most: int
) -> tuple[int, StatusId] | None:
    """The same for the next posts that show a page which names this account, from a post with one page on.

    The last page and post, if there may be more.
    """
    shown: list[StatusId] = []
    for _ in range(most):
        found = await db.all(_showing, card=card, after=after, most=most - len(shown)) if card else []
        shown += found
        after = found[-1] if found else after
        if len(shown) == most:
            break
        following = await db.one(_crediting, account=account_id, after=card)
        if following is None:
            card = 0
            break
        card, after = following, StatusId(0)
    if shown:
        await db.run(_shown_anew_all, ids=shown)
    return (card, after) if card else None
