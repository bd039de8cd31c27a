from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, delete, or_, select, update

from kith.base.clocks import SLACK
from kith.base.db import Command, Instant, Session, command, insert_into, query, upsert
from kith.federation.block_lists.tables import BlockList, BlockListEntry, block_list_entries, block_lists
from kith.social.accounts.tables import accounts

_id: Any = bindparam("id")
_every = query(select(block_lists).order_by(block_lists.c.id), BlockList)
_find = query(select(block_lists).where(block_lists.c.id == _id), BlockList)
_by_url = query(select(block_lists).where(block_lists.c.url == bindparam("url")), BlockList)
_insert = command(insert_into(block_lists))
_remove = command(delete(block_lists).where(block_lists.c.id == _id))
_due = query(
    select(block_lists.c.id)
    .where(
        and_(
            block_lists.c.state != "leaving",
            or_(
                block_lists.c.fetched_at.is_(None),
                block_lists.c.fetched_at < bindparam("before", type_=Instant()),
                block_lists.c.fetched_at > bindparam("latest", type_=Instant()),
            ),
        )
    )
    .order_by(block_lists.c.id),
    int,
)
_entries = query(select(block_list_entries), BlockListEntry)
_new_entry = upsert(block_list_entries).values(
    {column.name: bindparam(column.name, type_=column.type) for column in block_list_entries.c}
)
_save_entry = command(
    _new_entry.on_conflict_do_update(
        index_elements=["list_id", "domain"],
        set_={one.name: _new_entry.excluded[one.name] for one in block_list_entries.c if not one.primary_key},
    ).inline()
)
_drop_entry = command(
    delete(block_list_entries).where(
        and_(block_list_entries.c.list_id == _id, block_list_entries.c.domain == bindparam("domain"))
    )
)
_known_domains = query(
    select(accounts.c.domain).where(and_(accounts.c.domain != "", accounts.c.suspended_at.is_(None))).distinct(), str
)


async def every(db: Session) -> list[BlockList]:
    return await db.all(_every)


async def find(db: Session, id: int) -> BlockList | None:
    return await db.one(_find, id=id)


async def find_by_url(db: Session, url: str) -> BlockList | None:
    return await db.one(_by_url, url=url)


async def insert(db: Session, row: BlockList) -> None:
    """Raises `Taken` where there is one with that address."""
    await db.run(_insert, **msgspec.structs.asdict(row))


async def remove(db: Session, id: int) -> None:
    await db.run(_remove, id=id)


@lru_cache(16)
def _change(names: frozenset[str]) -> Command:
    values = {name: bindparam(f"new_{name}", type_=block_lists.c[name].type) for name in sorted(names)}
    return command(update(block_lists).where(block_lists.c.id == _id).values(values))


async def change(db: Session, id: int, values: Mapping[str, Any]) -> None:
    await db.run(_change(frozenset(values)), id=id, **{f"new_{name}": value for name, value in values.items()})


async def due(db: Session, now: datetime, every: timedelta) -> list[int]:
    """Lists that were not looked at for so long, or by a clock that was ahead."""
    return await db.all(_due, before=now - every, latest=now + SLACK)


async def entries(db: Session) -> list[BlockListEntry]:
    """Of all lists: they are looked at together, for several may want the same."""
    return await db.all(_entries)


async def save_entry(db: Session, entry: BlockListEntry) -> None:
    await db.run(_save_entry, **msgspec.structs.asdict(entry))


async def drop_entry(db: Session, list_id: int, domain: str) -> None:
    await db.run(_drop_entry, id=list_id, domain=domain)


async def known_domains(db: Session) -> list[str]:
    """Servers of which accounts are known here that are not suspended."""
    return await db.slow(_known_domains)
