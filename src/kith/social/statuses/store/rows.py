"""Posts: adding, finding, changing and counting them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, select, update

from kith.base.db import Command, Instant, Session, any_of, command, insert_into, query
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import access
from kith.social.statuses.access import ME
from kith.social.statuses.lines import A, S
from kith.social.statuses.tables import Status, statuses
from kith.social.versions import changed, counted

_now = bindparam("now", type_=Instant())
_insert = command(insert_into(statuses))
_by_id = query(select(statuses).where(statuses.c.id == bindparam("status")), Status)
_by_ids = query(select(statuses).where(any_of(statuses.c.id, "ids")), Status)
_by_uri = query(select(statuses).where(statuses.c.uri == bindparam("uri")), Status)
_seen = {
    anonymous: query(
        select(S)
        .select_from(S.join(A, A.c.id == S.c.account_id))
        .where(and_(S.c.id == bindparam("status"), access.visible_for(S, A, anonymous=anonymous))),
        Status,
    )
    for anonymous in (False, True)
}
_boost_of = query(
    select(statuses).where(
        and_(
            statuses.c.account_id == ME,
            statuses.c.reblog_of_id == bindparam("status"),
            statuses.c.deleted_at.is_(None),
        )
    ),
    Status,
)
_domains = query(
    select(accounts.c.id, accounts.c.domain, accounts.c.sensitized_at).where(any_of(accounts.c.id, "ids")), tuple
)
_count = command(
    update(statuses)
    .where(statuses.c.id == bindparam("status"))
    .values(
        replies_count=statuses.c.replies_count + bindparam("replies"),
        reblogs_count=statuses.c.reblogs_count + bindparam("reblogs"),
        favourites_count=statuses.c.favourites_count + bindparam("favourites"),
        quotes_count=statuses.c.quotes_count + bindparam("quotes"),
        version=counted(statuses),
    )
)
_delete = command(
    update(statuses)
    .where(and_(statuses.c.id == bindparam("status"), statuses.c.deleted_at.is_(None)))
    .values(deleted_at=_now, version=changed(statuses))
)


async def insert(db: Session, status: Status) -> None:
    await db.run(_insert, **msgspec.structs.asdict(status))


async def find(db: Session, status_id: StatusId) -> Status | None:
    """Whoever may see it, and even if it is deleted."""
    return await db.one(_by_id, status=status_id)


async def find_all(db: Session, ids: Sequence[StatusId]) -> dict[StatusId, Status]:
    return {status.id: status for status in await db.all(_by_ids, ids=list(ids))} if ids else {}


async def find_by_uri(db: Session, uri: str) -> Status | None:
    return await db.one(_by_uri, uri=uri)


async def find_visible(db: Session, status_id: StatusId, me: AccountId | None) -> Status | None:
    """The status, if this viewer (None: anybody) may see it."""
    return await db.one(_seen[me is None], status=status_id, me=me)


async def find_boost(db: Session, me: AccountId, status_id: StatusId) -> Status | None:
    return await db.one(_boost_of, me=me, status=status_id)


async def count(
    db: Session, status_id: StatusId, *, replies: int = 0, reblogs: int = 0, favourites: int = 0, quotes: int = 0
) -> None:
    await db.run(_count, status=status_id, replies=replies, reblogs=reblogs, favourites=favourites, quotes=quotes)


async def remove(db: Session, status_id: StatusId, now: datetime) -> bool:
    """Gone for everybody from now on; the row stays for as long as others must be told. False: it was gone."""
    return await db.run(_delete, status=status_id, now=now) == 1


@lru_cache(256)
def _change(names: frozenset[str]) -> Command:
    values = {name: bindparam(name, type_=statuses.c[name].type) for name in names}
    return command(
        update(statuses).where(statuses.c.id == bindparam("status")).values({**values, "version": changed(statuses)})
    )


async def change(db: Session, status_id: StatusId, changed: Mapping[str, Any]) -> None:
    """What is shown of it is another from now on, so its version grows."""
    await db.run(_change(frozenset(changed)), status=status_id, **changed)


async def domains_of(db: Session, account_ids: Sequence[AccountId]) -> dict[int, tuple[str, bool]]:
    """Where authors live, and whether their pictures are to be hidden."""
    rows = await db.all(_domains, ids=list(set(account_ids)))
    return {id: (domain, sensitized_at is not None) for id, domain, sensitized_at in rows}


_after_of = query(
    select(statuses.c.id)
    .where(and_(statuses.c.account_id == bindparam("account"), statuses.c.id > bindparam("after")))
    .order_by(statuses.c.id)
    .limit(bindparam("most")),
    StatusId,
)
_show_anew = command(update(statuses).where(any_of(statuses.c.id, "ids")).values(version=changed(statuses)))


async def show_anew(db: Session, account_id: AccountId, after: int, most: int) -> int | None:
    """The next posts of an account are made anew when next shown; the last of them, where there are more."""
    ids = await db.all(_after_of, account=account_id, after=after, most=most)
    await db.run(_show_anew, ids=ids)
    return ids[-1] if len(ids) == most else None
