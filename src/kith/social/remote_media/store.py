"""What is here of other servers: how much, since when nobody has looked at it, and how it is dropped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Table, and_, bindparam, func, literal, or_, select, union_all, update

from kith.base.db import Instant, Session, any_of, command, query
from kith.social.accounts.tables import accounts, fetched_pictures
from kith.social.ids import AccountId
from kith.social.media.tables import media
from kith.social.statuses.tables import cards, statuses
from kith.social.versions import changed

ATTACHMENTS, CARDS, AVATARS, HEADERS = "attachments", "cards", "avatars", "headers"
PICTURES = (AVATARS, HEADERS)


class _Shelf(msgspec.Struct, frozen=True):
    """Where it is written how large the files of something are."""

    table: Table
    id: ColumnElement[Any]
    size: ColumnElement[int]
    is_on_it: ColumnElement[bool]


def _picture_shelf(name: str) -> _Shelf:
    table = fetched_pictures
    return _Shelf(table, table.c.account_id, table.c.fetched_bytes, table.c.shelf == name)


_SHELVES = {
    ATTACHMENTS: _Shelf(media, media.c.id, media.c.fetched_bytes, media.c.looked_at.is_not(None)),
    CARDS: _Shelf(cards, cards.c.id, cards.c.image_bytes, cards.c.looked_at.is_not(None)),
} | {name: _picture_shelf(name) for name in PICTURES}
SHELVES = tuple(_SHELVES)
_now = bindparam("now", type_=Instant())


class Fetched(msgspec.Struct, frozen=True):
    shelf: str
    id: int
    size: int
    looked_at: datetime


_total = query(
    union_all(*(select(func.coalesce(func.sum(shelf.size), 0)).where(shelf.is_on_it) for shelf in _SHELVES.values())),
    int,
)


def _oldest_of(name: str, shelf: _Shelf) -> Any:
    found = (
        select(literal(name).label("shelf"), shelf.id.label("id"), shelf.size.label("size"), shelf.table.c.looked_at)
        .where(shelf.is_on_it)
        .order_by(shelf.table.c.looked_at, shelf.id)
        .limit(bindparam("most"))
        .subquery()
    )
    return select(found)


def _oldest_statement() -> Any:
    either = union_all(*(_oldest_of(name, shelf) for name, shelf in _SHELVES.items())).subquery()
    return select(either).order_by(either.c.looked_at, either.c.id).limit(bindparam("most"))


_oldest = query(_oldest_statement, Fetched)
_look = {
    name: command(
        update(shelf.table)
        .where(and_(any_of(shelf.id, "ids"), shelf.is_on_it, shelf.table.c.looked_at < _now))
        .values(looked_at=_now)
    )
    for name, shelf in _SHELVES.items()
}
_arrived = command(
    update(media).where(media.c.id == bindparam("media_id")).values(fetched_bytes=bindparam("size"), looked_at=_now)
)
_gone_media = query(
    update(media)
    .where(and_(any_of(media.c.id, "ids"), media.c.remote_url.is_not(None)))
    .values(file="", preview="", fetched_bytes=0, looked_at=None)
    .returning(media.c.id),
    int,
)
_fetched_of = query(
    select(media.c.id)
    .where(and_(media.c.account_id == bindparam("account"), media.c.remote_url.is_not(None), media.c.file != ""))
    .order_by(media.c.id)
    .limit(bindparam("most")),
    int,
)
_statuses_of = select(media.c.status_id).where(and_(any_of(media.c.id, "ids"), media.c.status_id.is_not(None)))
_show_anew = command(update(statuses).where(statuses.c.id.in_(_statuses_of)).values(version=changed(statuses)))
_keys_of_cards = query(select(cards.c.id, cards.c.data).where(any_of(cards.c.id, "ids")), tuple)
_gone_cards = command(update(cards).where(any_of(cards.c.id, "ids")).values(image_bytes=0, looked_at=None))


async def total(db: Session) -> int:
    """All bytes that are kept. It grows with what is there, so it is counted beside the loop."""
    return sum(await db.slow(_total))


async def oldest(db: Session, most: int) -> list[Fetched]:
    return await db.all(_oldest, most=most)


async def look(db: Session, shelf: str, ids: Iterable[int], now: datetime) -> None:
    await db.run(_look[shelf], ids=sorted(ids), now=now)


async def arrived(db: Session, media_id: int, size: int, now: datetime) -> None:
    await db.run(_arrived, media_id=media_id, size=size, now=now)


async def fetched_of(db: Session, account_id: AccountId, most: int) -> list[int]:
    """Attachments of somebody elsewhere whose files are here."""
    return await db.all(_fetched_of, account=account_id, most=most)


async def drop_attachments(db: Session, ids: Sequence[int]) -> list[int]:
    """Which of them had files. Every post with one of them is shown anew."""
    if not ids:
        return []
    gone = await db.all(_gone_media, ids=list(ids))
    await db.run(_show_anew, ids=list(ids))
    return gone


async def drop_cards(db: Session, ids: Sequence[int]) -> list[str]:
    """Which files they had. They stay named, and are fetched again under the same names."""
    if not ids:
        return []
    found = await db.all(_keys_of_cards, ids=list(ids))
    await db.run(_gone_cards, ids=list(ids))
    return [data["image"] for _, data in found if data.get("image")]


# Servers of which the team wants no files

_at = or_(
    accounts.c.domain == bindparam("domain"),
    and_(accounts.c.domain != "", accounts.c.domain.like(bindparam("below"), escape="!")),
)
_from_there = query(
    select(media.c.id, accounts.c.domain)
    .join(accounts, accounts.c.id == media.c.account_id)
    .where(and_(_at, media.c.id > bindparam("after")))
    .order_by(media.c.id)
    .limit(bindparam("most")),
    tuple,
)
_withhold = command(
    update(media)
    .where(and_(any_of(media.c.id, "ids"), media.c.kind != "unknown"))
    .values(withheld_kind=media.c.kind, kind="unknown")
)
_show = command(
    update(media)
    .where(and_(any_of(media.c.id, "ids"), media.c.withheld_kind != ""))
    .values(kind=media.c.withheld_kind, withheld_kind="")
)
_people_at = query(
    select(accounts.c.id)
    .where(and_(accounts.c.domain == bindparam("domain"), accounts.c.id > bindparam("after")))
    .order_by(accounts.c.id)
    .limit(bindparam("most")),
    AccountId,
)
_pictures = command(
    update(accounts)
    .where(and_(any_of(accounts.c.id, "ids"), accounts.c.pictures_rejected != bindparam("hidden")))
    .values(pictures_rejected=bindparam("hidden"), version=changed(accounts))
)
_cards_with_images = query(
    select(cards.c.id, cards.c.url, cards.c.data)
    .where(and_(cards.c.id > bindparam("after"), cards.c.image_source != ""))
    .order_by(cards.c.id)
    .limit(bindparam("most")),
    tuple,
)
_card_image = command(
    update(cards)
    .where(cards.c.id == bindparam("card"))
    .values(data=bindparam("new_data", type_=cards.c.data.type), image_bytes=0, looked_at=None)
)


async def attachments_below(db: Session, domain: str, after: int, most: int) -> list[tuple[int, str]]:
    """Of people of a domain and of those below it: ids, and whose domain it is."""
    escaped = domain.replace("!", "!!").replace("_", "!_").replace("%", "!%")
    return await db.all(_from_there, domain=domain, below=f"%.{escaped}", after=after, most=most)


async def withhold(db: Session, ids: Sequence[int]) -> list[int]:
    """They are only linked to from now on; which of them had files."""
    await db.run(_withhold, ids=list(ids))
    return await drop_attachments(db, ids)


async def show_again(db: Session, ids: Sequence[int]) -> None:
    if ids:
        await db.run(_show, ids=list(ids))
        await db.run(_show_anew, ids=list(ids))


async def people_at(db: Session, domain: str, after: int, most: int) -> list[AccountId]:
    return await db.all(_people_at, domain=domain, after=after, most=most)


async def hide_pictures(db: Session, ids: Sequence[AccountId], *, hidden: bool) -> None:
    if ids:
        await db.run(_pictures, ids=list(ids), hidden=hidden)


async def cards_with_images(db: Session, after: int, most: int) -> list[tuple[int, str, dict[str, Any]]]:
    """Of all that have one, whether or not it is shown: ids, addresses, and what is kept of them."""
    return await db.all(_cards_with_images, after=after, most=most)


async def set_card(db: Session, id: int, data: dict[str, Any]) -> None:
    """What it shows from now on; its picture is not here."""
    await db.run(_card_image, card=id, new_data=data)
