from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BindParameter, and_, bindparam, delete, exists, or_, select, update

from kith.base.db import Session, add_once, alias_of, any_of, command, query
from kith.federation.inbox.tables import WAITING, Received, inbox
from kith.social.accounts.tables import Account, accounts
from kith.social.ids import AccountId, StatusId
from kith.social.relationships.follow_source import Following
from kith.social.statuses.tables import PRIVATE, PUBLIC, UNLISTED, favourites, mentions, statuses

_row: BindParameter[Any] = bindparam("row")
_add = command(lambda: add_once(inbox))
_find = query(lambda: select(inbox).where(inbox.c.id == _row), Received)
# Of several workers each takes others.
_take = query(
    lambda: (
        select(inbox)
        .where(inbox.c.state == WAITING)
        .order_by(inbox.c.turn, inbox.c.id)
        .limit(bindparam("most"))
        .with_for_update(skip_locked=True)
    ),
    Received,
)
_any_waiting = query(lambda: select(inbox.c.id).where(inbox.c.state == WAITING).limit(1), int)
_hold = query(lambda: select(inbox).where(inbox.c.id == _row).with_for_update(), Received)
_drop = command(lambda: delete(inbox).where(any_of(inbox.c.id, "ids")))
_set_state = command(lambda: update(inbox).where(any_of(inbox.c.id, "ids")).values(state=bindparam("new_state")))


async def add(db: Session, rows: Sequence[Received]) -> None:
    """Each at most once while it waits."""
    await db.many(_add, [{name: getattr(row, name) for name in Received.__struct_fields__} for row in rows])


async def find(db: Session, id: int) -> Received | None:
    return await db.one(_find, row=id)


async def hold(db: Session, id: int) -> Received | None:
    """The row, which nobody else does meanwhile."""
    await db.begin()
    return await db.one(_hold, row=id)


async def any_waiting(db: Session) -> bool:
    return await db.one(_any_waiting) is not None


async def take(db: Session, most: int) -> list[Received]:
    """Those that wait, in turns of the hosts that sent them; nobody else takes them before this session ends."""
    await db.begin()
    return await db.all(_take, most=most)


_older = query(lambda: select(inbox).where(inbox.c.id < _row).order_by(inbox.c.id).limit(100), Received)


async def older_than(db: Session, id: int) -> list[Received]:
    return await db.all(_older, row=id)


async def drop(db: Session, ids: Sequence[int]) -> None:
    if ids:
        await db.run(_drop, ids=list(ids))


async def set_state(db: Session, ids: Sequence[int], state: int) -> None:
    if ids:
        await db.run(_set_state, ids=list(ids), new_state=state)


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
