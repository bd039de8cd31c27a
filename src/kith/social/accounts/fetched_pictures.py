"""Which pictures of people elsewhere are here, so that they can be counted and dropped like other fetched files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import and_, bindparam, delete, select

from kith.base.db import Instant, Session, any_of, command, query, upsert
from kith.social.accounts.tables import accounts, fetched_pictures
from kith.social.ids import AccountId

__all__ = ["arrived", "drop"]

_new = upsert(fetched_pictures).values(
    account_id=bindparam("account"),
    shelf=bindparam("shelf"),
    fetched_bytes=bindparam("size"),
    looked_at=bindparam("now", type_=Instant()),
)
_arrived = command(
    _new.on_conflict_do_update(
        index_elements=["account_id", "shelf"],
        set_={name: _new.excluded[name] for name in ("fetched_bytes", "looked_at")},
    ).inline()
)
_files = {
    shelf: query(select(file, static).where(any_of(accounts.c.id, "ids")), tuple)
    for shelf, file, static in (
        ("avatars", accounts.c.avatar, accounts.c.avatar_static),
        ("headers", accounts.c.header, accounts.c.header_static),
    )
}
_drop = command(
    delete(fetched_pictures).where(
        and_(fetched_pictures.c.shelf == bindparam("shelf"), any_of(fetched_pictures.c.account_id, "ids"))
    )
)


async def arrived(db: Session, shelf: str, account_id: AccountId, size: int, now: datetime) -> None:
    await db.run(_arrived, account=account_id, shelf=shelf, size=size, now=now)


async def drop(db: Session, shelf: str, ids: Sequence[int]) -> list[str]:
    """The files that go. They stay named, and are fetched again under the same names."""
    if not ids:
        return []
    found: list[tuple[str, str]] = await db.all(_files[shelf], ids=list(ids))
    await db.run(_drop, shelf=shelf, ids=list(ids))
    return list(dict.fromkeys(key for keys in found for key in keys if key))
