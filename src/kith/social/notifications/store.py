from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import BindParameter, Text, and_, bindparam, delete, exists, func, or_, select

from kith.base.db import Session, add_once, alias_of, any_of, command, query
from kith.social.accounts.access import is_there
from kith.social.accounts.lines import A
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId, StatusId
from kith.social.notifications import access
from kith.social.notifications.policy import Acquaintance
from kith.social.notifications.tables import Notification, notifications
from kith.social.relationships import rules
from kith.social.remote_servers import is_of_server
from kith.social.statuses.tables import favourites, mentions, statuses, votes

N = notifications
_me: BindParameter[Any] = bindparam("me")
_add = command(add_once(N))


def _newest_group(*, about: bool) -> Any:
    clauses = [N.c.account_id == _me, N.c.id > bindparam("since"), N.c.type == bindparam("type")]
    if about:
        clauses.append(N.c.status_id == bindparam("status"))
    return query(select(N.c.group_key).where(and_(*clauses)).order_by(N.c.id.desc()).limit(1), str)


_last_group = {about: _newest_group(about=about) for about in (False, True)}
_forget_keys = command(delete(N).where(any_of(N.c.once_key, "keys")))
_forget_status = command(delete(N).where(N.c.status_id == bindparam("status")))
_forget_older = command(
    delete(N).where(
        and_(
            N.c.status_id == bindparam("status"),
            N.c.type == bindparam("type"),
            any_of(N.c.account_id, "accounts"),
            ~any_of(N.c.once_key, "keys"),
        )
    )
)
# What concerns somebody as one of the team stays.
_forget_between = command(
    delete(N).where(and_(N.c.account_id == _me, N.c.from_id == bindparam("other"), N.c.subject_id.is_(None)))
)
_is_from_there = and_(accounts.c.id == N.c.from_id, is_of_server(accounts.c.domain, bindparam("domain", type_=Text())))
_forget_domain = command(
    delete(N).where(
        and_(N.c.account_id == _me, N.c.subject_id.is_(None), exists(select(accounts.c.id).where(_is_from_there)))
    )
)
_forget_account = command(delete(N).where(or_(N.c.account_id == _me, N.c.from_id == _me)))
_clear = command(delete(N).where(N.c.account_id == _me))
_dismiss = command(delete(N).where(and_(N.c.account_id == _me, N.c.id == bindparam("id"))))

_source = N.join(A, A.c.id == N.c.from_id)
_mine = and_(N.c.account_id == _me, is_there(A))


def _count(*, of_one: bool) -> Any:
    clauses = [_mine, any_of(N.c.type, "types"), N.c.id > bindparam("since"), ~N.c.filtered]
    if of_one:
        clauses[-1] = N.c.from_id == bindparam("from_id")
    newer = select(N.c.id).select_from(_source).where(and_(*clauses)).limit(bindparam("most")).subquery()
    return query(select(func.count()).select_from(newer), int)


_counts = {of_one: _count(of_one=of_one) for of_one in (False, True)}

# Whom a thing concerns, a stretch at a time: account, and what the stretches go by.
_after: BindParameter[Any] = bindparam("after")
_about: BindParameter[Any] = bindparam("about")


def _local(column: Any) -> Any:
    own = alias_of(accounts)
    return column.in_(select(own.c.id).where(and_(own.c.domain == "", own.c.id == column)).correlate_except(own))


_concerning = query(
    select(statuses.c.id).where(
        and_(
            any_of(statuses.c.id, "ids"),
            or_(
                statuses.c.reblog_of_id.is_not(None),
                exists(select(mentions.c.account_id).where(mentions.c.status_id == statuses.c.id)),
                rules.is_observed(statuses.c.account_id),
            ),
        )
    ),
    StatusId,
)
_boosters = query(
    select(statuses.c.account_id, statuses.c.id)
    .where(
        and_(
            statuses.c.reblog_of_id == _about, statuses.c.deleted_at.is_(None), statuses.c.id > _after, statuses.c.local
        )
    )
    .order_by(statuses.c.id)
    .limit(bindparam("most")),
    tuple,
)  # fmt: skip
_quoters = query(
    select(statuses.c.account_id, statuses.c.id)
    .where(
        and_(
            statuses.c.quoted_id == _about, statuses.c.quote_state == "accepted", statuses.c.deleted_at.is_(None),
            statuses.c.id > _after, statuses.c.local,
        )
    )
    .order_by(statuses.c.id)
    .limit(bindparam("most")),
    tuple,
)  # fmt: skip
_voters = query(
    select(votes.c.account_id, votes.c.account_id.label("place"))
    .where(and_(votes.c.poll_id == _about, votes.c.account_id > _after, _local(votes.c.account_id)))
    .distinct()
    .order_by(votes.c.account_id)
    .limit(bindparam("most")),
    tuple,
)
_author_of_favourite = query(
    select(statuses.c.account_id)
    .join(favourites, favourites.c.status_id == statuses.c.id)
    .where(
        and_(
            favourites.c.account_id == _me,
            favourites.c.status_id == bindparam("status"),
            statuses.c.deleted_at.is_(None),
        )
    ),
    AccountId,
)


async def add(db: Session, row: Notification) -> bool:
    """False when it was told already."""
    return await db.run(_add, **msgspec.structs.asdict(row)) == 1


async def last_group(db: Session, me: AccountId, type: str, status_id: StatusId | None, since: int) -> str | None:
    found: str | None = await db.one(
        _last_group[status_id is not None], me=me, type=type, status=status_id, since=since
    )
    return found


async def who_is_told(
    db: Session, ids: Sequence[AccountId], from_id: AccountId, status_id: StatusId | None, now: datetime, *,
    mention_from: str | None = None, own: bool = False,
) -> dict[AccountId, Acquaintance | None]:  # fmt: skip
    """Those of `ids` who hear of it. `mention_from` is the role of whoever mentions them.

    With what they have to do with the sender; None where that does not matter, for the sender outranks them.
    """
    if not ids:
        return {}
    statement = access.who_is_told(mention=mention_from is not None, own=own)
    below = access.below(mention_from or "")
    found = await db.all(
        statement, ids=list(dict.fromkeys(ids)), from_id=from_id, status=status_id, now=now, below=below
    )
    return {known[0]: None if is_below else Acquaintance(*known) for is_below, *known in found}


async def forget_keys(db: Session, keys: Sequence[str]) -> None:
    await db.run(_forget_keys, keys=list(keys))


async def forget_status(db: Session, status_id: StatusId) -> None:
    await db.run(_forget_status, status=status_id)


async def forget_older(
    db: Session, type: str, status_id: StatusId, account_ids: Sequence[AccountId], keys: Sequence[str]
) -> None:
    """All of these people's notices of a type about a status, but those with one of the keys."""
    if account_ids:
        await db.run(_forget_older, type=type, status=status_id, accounts=list(account_ids), keys=list(keys))


async def forget_between(db: Session, me: AccountId, other: AccountId) -> None:
    await db.run(_forget_between, me=me, other=other)


async def forget_domain(db: Session, me: AccountId, domain: str) -> None:
    """What somebody was told of anybody from there."""
    await db.run(_forget_domain, me=me, domain=domain)


async def forget_account(db: Session, account_id: AccountId) -> None:
    """What they were told, and what others were told of them."""
    await db.run(_forget_account, me=account_id)


async def clear(db: Session, me: AccountId) -> None:
    await db.run(_clear, me=me)


async def dismiss(db: Session, me: AccountId, id: int) -> bool:
    return await db.run(_dismiss, me=me, id=id) == 1


async def count_since(
    db: Session, me: AccountId, since: int, *, types: Sequence[str], from_id: AccountId | None, most: int
) -> int:
    statement = _counts[from_id is not None]
    found: list[int] = await db.slow(statement, me=me, since=since, types=list(types), from_id=from_id, most=most)
    return found[0]


async def author_of_favourite(db: Session, me: AccountId, status_id: StatusId) -> AccountId | None:
    """Whose post it is that somebody has among their favourites."""
    return await db.one(_author_of_favourite, me=me, status=status_id)


async def told_of_favourites(
    db: Session, pairs: Sequence[tuple[AccountId, StatusId]], now: datetime
) -> dict[tuple[AccountId, StatusId], Acquaintance]:
    """Who hears of which of these favourites (an account, and what it favours), as far as they are still there."""
    accounts, statuses = {account_id for account_id, _ in pairs}, {status_id for _, status_id in pairs}
    found = await db.all(access.told_of_favourites, accounts=sorted(accounts), statuses=sorted(statuses), now=now)
    return {(account_id, status_id): Acquaintance(*known) for account_id, status_id, *known in found}


Stretch = list[tuple[AccountId, int]]


async def concerning_anyone(db: Session, status_ids: Sequence[StatusId]) -> set[StatusId]:
    """Those that somebody may have to be told of: boosts, those with mentions, those of observed authors."""
    return set(await db.all(_concerning, ids=list(status_ids)))


async def boosters(db: Session, status_id: StatusId, after: int, most: int) -> Stretch:
    return await db.all(_boosters, about=status_id, after=after, most=most)


async def quoters(db: Session, status_id: StatusId, after: int, most: int) -> Stretch:
    return await db.all(_quoters, about=status_id, after=after, most=most)


async def voters(db: Session, poll_id: int, after: int, most: int) -> Stretch:
    return await db.all(_voters, about=poll_id, after=after, most=most)
