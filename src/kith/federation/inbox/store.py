from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import BindParameter, and_, bindparam, delete, exists, func, literal_column, or_, select, text, update

from kith.base.db import Session, add_once, alias_of, any_of, command, query
from kith.federation.inbox.tables import IS_WAITING, PUT_OFF, Received, inbox
from kith.social.accounts.tables import Account, accounts
from kith.social.ids import AccountId, StatusId
from kith.social.relationships.follow_source import Following
from kith.social.statuses.tables import PRIVATE, PUBLIC, UNLISTED, favourites, mentions, statuses

_row: BindParameter[Any] = bindparam("row")
_add = command(lambda: add_once(inbox))
_find = query(lambda: select(inbox).where(inbox.c.id == _row), Received)
_waits = text(IS_WAITING)
_its_site: BindParameter[Any] = bindparam("its_site")
# Of several workers each takes others.
_next_of = query(
    lambda: (
        select(inbox.c.id, inbox.c.size)
        .where(and_(_waits, inbox.c.site == _its_site))
        .order_by(inbox.c.turn, inbox.c.id)
        .limit(bindparam("most"))
        .with_for_update(skip_locked=True)
    ),
    tuple,
)
_rows = query(lambda: select(inbox).where(any_of(inbox.c.id, "ids")).order_by(inbox.c.turn, inbox.c.id), Received)
_any_waiting = query(lambda: select(inbox.c.id).where(_waits).limit(1), int)
# The index is entered anew for each site, so that it does not matter how much one has sent.
_first_site = (
    select(func.min(inbox.c.site).label("site"))
    .where(and_(_waits, inbox.c.site >= bindparam("start")))
    .cte("sites", recursive=True)
)
_sites = _first_site.union_all(
    select(
        select(func.min(inbox.c.site)).where(and_(_waits, inbox.c.site > _first_site.c.site)).scalar_subquery()
    ).where(_first_site.c.site.is_not(None))
)
_since = (
    select(inbox.c.turn)
    .where(and_(_waits, inbox.c.site == _sites.c.site))
    .order_by(inbox.c.turn, inbox.c.id)
    .limit(1)
    .scalar_subquery()
)
_waiting_sites = query(
    lambda: select(_sites.c.site, _since.label("since")).where(_sites.c.site.is_not(None)).limit(bindparam("most")),
    tuple,
)
_some_of = select(inbox.c.size).where(and_(_waits, inbox.c.site == _its_site)).limit(bindparam("most"))
_waiting_of = query(
    lambda: select(func.count(), func.coalesce(func.sum(literal_column("size")), 0)).select_from(_some_of.subquery()),
    tuple,
)
_hold = query(lambda: select(inbox).where(inbox.c.id == _row).with_for_update(), Received)
_hold_only = query(lambda: select(inbox.c.id).where(inbox.c.id == _row).with_for_update(), int)
_drop = command(lambda: delete(inbox).where(any_of(inbox.c.id, "ids")))
_put_off = command(lambda: update(inbox).where(inbox.c.id == _row).values(state=bindparam("new_state")))
_shorten = command(
    lambda: update(inbox).where(inbox.c.id == _row).values(body=bindparam("new_body"), size=bindparam("new_size"))
)
_put_off_of = query(
    lambda: (
        select(func.count(), func.coalesce(func.sum(inbox.c.size), 0))
        .select_from(inbox)
        .where(and_(text(PUT_OFF), inbox.c.site == bindparam("its_site")))
    ),
    tuple,
)


async def add(db: Session, rows: Sequence[Received]) -> None:
    """Each at most once while it waits."""
    await db.many(_add, [{name: getattr(row, name) for name in Received.__struct_fields__} for row in rows])


async def find(db: Session, id: int) -> Received | None:
    return await db.one(_find, row=id)


async def hold(db: Session, id: int) -> Received | None:
    """The row, which nobody else does meanwhile."""
    await db.begin()
    return await db.one(_hold, row=id)


async def is_held(db: Session, id: int) -> bool:
    """The same for whoever has read the row; False where somebody has done it meanwhile."""
    await db.begin()
    return await db.one(_hold_only, row=id) is not None


async def any_waiting(db: Session) -> bool:
    return await db.one(_any_waiting) is not None


async def waiting_sites(db: Session, start: str, most: int) -> dict[str, int]:
    """Of which sites something waits, in the order of their names from `start` on, and since when the first of each."""
    return {site: since for site, since in await db.all(_waiting_sites, start=start, most=most) if since is not None}


async def take(db: Session, order: Sequence[str], most_bytes: int) -> tuple[list[Received], bool]:
    """What waits of these sites, one for each time that a site is named; nobody else takes it before this session ends.

    The first in any case, others as there is room for them; and whether there may be more.
    """
    await db.begin()
    lines: dict[str, list[tuple[int, int]]] = {}
    for site, count in Counter(order).items():
        lines[site] = list(reversed(await db.all(_next_of, its_site=site, most=count)))
    has_more = any(len(lines[site]) == count for site, count in Counter(order).items())
    ids: list[int] = []
    for id, size in (lines[site].pop() for site in order if lines[site]):
        most_bytes -= size
        if ids and most_bytes < 0:
            has_more = True
            break
        ids.append(id)
    rows = {row.id: row for row in await db.all(_rows, ids=ids)} if ids else {}
    return [rows[id] for id in ids if id in rows], has_more


async def waiting_of(db: Session, site: str, most: int) -> tuple[int, int]:
    """What waits of one site to be taken: how many, and their bytes; no more than `most` are counted."""
    return await db.one(_waiting_of, its_site=site, most=most) or (0, 0)


_older = query(
    lambda: (
        select(inbox.c.id, inbox.c.activity_id, inbox.c.account_id)
        .where(inbox.c.id < _row)
        .order_by(inbox.c.id)
        .limit(100)
    ),
    tuple,
)


async def older_than(db: Session, id: int) -> list[tuple[int, str | None, AccountId]]:
    """Ids of rows, which activities they are, and whose."""
    return await db.all(_older, row=id)


async def drop(db: Session, ids: Sequence[int]) -> None:
    if ids:
        await db.run(_drop, ids=list(ids))


async def put_off(db: Session, id: int, state: int, body: str | None = None) -> None:
    """A job of its own goes on with it, from then on with another body if there is one."""
    await db.run(_put_off, row=id, new_state=state)
    if body is not None:
        await db.run(_shorten, row=id, new_body=body, new_size=len(body.encode()))


async def put_off_of(db: Session, site: str) -> tuple[int, int]:
    """What one site has sent that jobs of their own go on with: how many, and their bytes."""
    return await db.one(_put_off_of, its_site=site) or (0, 0)


_favourite = query(
    lambda: select(favourites.c.id).where(
        and_(favourites.c.account_id == bindparam("account"), favourites.c.status_id == bindparam("status"))
    ),
    int,
)
_author, _answered, _follower, _named = (alias_of(accounts) for _ in range(4))
_following = Following("following")
_domain: BindParameter[Any] = bindparam("domain")
# What those whom a server speaks for may have seen: they are anonymous, so any of its people will do.
_is_seen_there = or_(
    statuses.c.visibility.in_((PUBLIC, UNLISTED)),
    and_(
        statuses.c.visibility == PRIVATE,
        exists()
        .where(and_(_following.followed == statuses.c.account_id, _follower.c.domain == _domain))
        .where(_follower.c.id == _following.follower),
    ),
    exists()
    .where(and_(mentions.c.status_id == statuses.c.id, _named.c.domain == _domain))
    .where(_named.c.id == mentions.c.account_id),
)
# Those of our people, and those that answer our people.
_reported_posts = query(
    lambda: (
        select(statuses.c.id, statuses.c.account_id)
        .join(_author, _author.c.id == statuses.c.account_id)
        .outerjoin(_answered, _answered.c.id == statuses.c.in_reply_to_account_id)
        .where(
            and_(
                or_(any_of(statuses.c.uri, "uris"), any_of(statuses.c.id, "ids")),
                or_(_author.c.domain == "", _answered.c.domain == ""),
                _is_seen_there,
                statuses.c.deleted_at.is_(None),
            )
        )
        .order_by(statuses.c.id)
    ),
    tuple,
)
_reported_people = query(
    lambda: select(accounts).where(and_(any_of(accounts.c.uri, "uris"), accounts.c.domain == "", accounts.c.is_listed)),
    Account,
)


async def is_favourite(db: Session, account_id: AccountId, status_id: StatusId) -> bool:
    return await db.one(_favourite, account=account_id, status=status_id) is not None


async def reported_posts(
    db: Session, uris: Sequence[str], ids: Sequence[int], domain: str
) -> list[tuple[StatusId, AccountId]]:
    """Posts by id or address, with their authors, that concern us and that somebody of `domain` may have seen."""
    return await db.all(_reported_posts, uris=list(uris), ids=list(ids), domain=domain)


async def local_people(db: Session, uris: Sequence[str]) -> list[Account]:
    return await db.all(_reported_people, uris=list(uris))
