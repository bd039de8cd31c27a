from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Boolean,
    ColumnElement,
    Integer,
    Select,
    Table,
    Text,
    and_,
    bindparam,
    cast,
    delete,
    func,
    literal_column,
    null,
    or_,
    select,
    union_all,
    update,
)

from kith.base.db import Command, Document, Instant, Query, Session, add_once, any_of, command, query, upsert
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId
from kith.social.relationships.rules import lasts
from kith.social.relationships.tables import (
    Block,
    Follow,
    Mute,
    account_notes,
    blocks,
    domain_blocks,
    endorsements,
    follow_requests,
    follows,
    mutes,
)

_me: BindParameter[Any] = bindparam("me")
_other: BindParameter[Any] = bindparam("other")
_now = bindparam("now", type_=Instant())


def _pair(table: Table) -> ColumnElement[bool]:
    return and_(table.c.account_id == _me, table.c.target_id == _other)


# Follows, and wishes for them


def _drop(table: Table, row: type[Any]) -> Query[Any]:
    return query(delete(table).where(_pair(table)).returning(*table.c), row)


_following = query(select(follows.c.id).where(_pair(follows)), int)
_find_follow = query(select(follows).where(_pair(follows)), Follow)
_find_request = query(select(follow_requests).where(_pair(follow_requests)), Follow)
_add_follow = command(add_once(follows))
_add_request = command(add_once(follow_requests))
_drop_follow = _drop(follows, Follow)
_drop_request = _drop(follow_requests, Follow)


def _set_options(table: Table) -> Command:
    names = ("reblogs", "notify", "languages")
    values = {name: bindparam(name, type_=table.c[name].type) for name in names}
    return command(update(table).where(table.c.id == bindparam("row")).values(values))


_change_follow = _set_options(follows)
_change_request = _set_options(follow_requests)
_requests_to = query(
    select(follow_requests.c.account_id)
    .join(accounts, accounts.c.id == follow_requests.c.account_id)
    .where(
        and_(
            follow_requests.c.target_id == _me,
            accounts.c.silenced_at.is_(None),
            accounts.c.suspended_at.is_(None),
            accounts.c.deleted_at.is_(None),
        )
    )
    .order_by(follow_requests.c.id)
    .limit(bindparam("most")),
    AccountId,
)


def requests_to(account_id: Any) -> Any:
    """How many ask to follow somebody, as far as forty, as part of a statement."""
    asker = accounts.alias()
    asking = (
        select(literal_column("1"))
        .select_from(follow_requests.join(asker, asker.c.id == follow_requests.c.account_id))
        .where(
            and_(
                follow_requests.c.target_id == account_id,
                asker.c.suspended_at.is_(None),
                asker.c.deleted_at.is_(None),
            )
        )
        .limit(40)
        .correlate_except(follow_requests, asker)
        .subquery()
    )
    return select(func.count()).select_from(asking).scalar_subquery()


_count_requests = query(select(requests_to(_me)), int)


async def is_following(db: Session, me: AccountId, other: AccountId) -> bool:
    return await db.one(_following, me=me, other=other) is not None


async def find_follow(db: Session, me: AccountId, other: AccountId) -> Follow | None:
    return await db.one(_find_follow, me=me, other=other)


async def find_request(db: Session, me: AccountId, other: AccountId) -> Follow | None:
    return await db.one(_find_request, me=me, other=other)


async def add_follow(db: Session, follow: Follow) -> bool:
    """False when it was there already."""
    return await db.run(_add_follow, **{name: getattr(follow, name) for name in Follow.__struct_fields__}) == 1


async def add_request(db: Session, request: Follow) -> bool:
    return await db.run(_add_request, **{name: getattr(request, name) for name in Follow.__struct_fields__}) == 1


async def drop_follow(db: Session, me: AccountId, other: AccountId) -> Follow | None:
    """What was there."""
    found: Follow | None = await db.one(_drop_follow, me=me, other=other)
    return found


async def drop_request(db: Session, me: AccountId, other: AccountId) -> Follow | None:
    found: Follow | None = await db.one(_drop_request, me=me, other=other)
    return found


async def change_follow(db: Session, follow: Follow) -> None:
    await db.run(
        _change_follow, row=follow.id, reblogs=follow.reblogs, notify=follow.notify, languages=follow.languages
    )


async def change_request(db: Session, request: Follow) -> None:
    await db.run(
        _change_request, row=request.id, reblogs=request.reblogs, notify=request.notify, languages=request.languages
    )


async def welcome_requests(db: Session, me: AccountId, most: int) -> list[AccountId]:
    """Who asks to follow, oldest first, without those whom the team has limited."""
    return await db.all(_requests_to, me=me, most=most)


async def count_requests(db: Session, me: AccountId) -> int:
    """How many ask to follow, as far as forty."""
    return await db.one(_count_requests, me=me) or 0


# Blocks

_blocked_among = query(
    select(blocks.c.target_id).where(and_(blocks.c.account_id == _me, any_of(blocks.c.target_id, "ids"))), AccountId
)
_between = query(
    select(blocks.c.id)
    .where(
        or_(
            _pair(blocks),
            and_(blocks.c.account_id == _other, blocks.c.target_id == _me),
        )
    )
    .limit(1),
    int,
)
_add_block = command(add_once(blocks))
_drop_block = _drop(blocks, Block)


async def blocked_among(db: Session, me: AccountId, ids: Sequence[AccountId]) -> set[AccountId]:
    """Whom of these I block."""
    return set(await db.all(_blocked_among, me=me, ids=list(ids))) if ids else set()


async def blocks_between(db: Session, me: AccountId, other: AccountId) -> bool:
    """Whether either blocks the other."""
    return await db.one(_between, me=me, other=other) is not None


async def add_block(db: Session, block: Block) -> bool:
    return await db.run(_add_block, **{name: getattr(block, name) for name in Block.__struct_fields__}) == 1


async def drop_block(db: Session, me: AccountId, other: AccountId) -> Block | None:
    found: Block | None = await db.one(_drop_block, me=me, other=other)
    return found


# Whom somebody follows or asked to, and who follows somebody


def _among(table: Table) -> Query[AccountId]:
    return query(
        select(table.c.target_id).where(and_(table.c.account_id == _me, any_of(table.c.target_id, "ids"))), AccountId
    )


_followed_among, _requested_among = _among(follows), _among(follow_requests)
_count_following = query(select(func.count()).select_from(follows).where(follows.c.account_id == _me), int)
_here = accounts.alias()
_is_local = follows.c.account_id.in_(
    select(_here.c.id).where(and_(_here.c.domain == "", _here.c.id == follows.c.account_id)).correlate_except(_here)
)
_observers = query(
    select(follows.c.account_id, follows.c.id)
    .where(
        and_(
            follows.c.target_id == _me,
            follows.c.notify,
            follows.c.id > bindparam("after"),
            follows.c.id < bindparam("before"),
            _is_local,
        )
    )
    .order_by(follows.c.id)
    .limit(bindparam("most")),
    tuple,
)


async def wanted_among(db: Session, me: AccountId, ids: Sequence[AccountId]) -> set[AccountId]:
    """Whom of these I follow, or asked to; and myself."""
    wanted = list(ids)
    followed = await db.all(_followed_among, me=me, ids=wanted)
    requested = await db.all(_requested_among, me=me, ids=wanted)
    return {*followed, *requested} | ({me} & set(ids))


async def count_following(db: Session, me: AccountId) -> int:
    return await db.one(_count_following, me=me) or 0


async def observers(
    db: Session, author_id: AccountId, after: int, most: int, *, before: int
) -> list[tuple[AccountId, int]]:
    """Those here who want to hear of everything an author posts, and did so before an id: account and place."""
    return await db.all(_observers, me=author_id, after=after, most=most, before=before)


# Mutes

_new_mute = upsert(mutes).values({column.name: bindparam(column.name, type_=column.type) for column in mutes.columns})
_save_mute = command(
    _new_mute.on_conflict_do_update(
        index_elements=[mutes.c.account_id, mutes.c.target_id],
        set_={
            "hide_notifications": _new_mute.excluded.hide_notifications,
            "expires_at": _new_mute.excluded.expires_at,
        },
    ).inline()
)
_drop_mute = _drop(mutes, Mute)
_muting = query(select(mutes.c.id).where(and_(_pair(mutes), lasts(mutes))), int)
_ended_mutes = query(
    delete(mutes)
    .where(mutes.c.id.in_(select(mutes.c.id).where(mutes.c.expires_at <= _now).limit(bindparam("most"))))
    .returning(mutes.c.account_id, mutes.c.target_id),
    tuple,
)


async def is_muting(db: Session, me: AccountId, other: AccountId, now: datetime) -> bool:
    return await db.one(_muting, me=me, other=other, now=now) is not None


async def save_mute(db: Session, mute: Mute) -> None:
    """There is one at most; a second changes the first."""
    await db.run(_save_mute, **{name: getattr(mute, name) for name in Mute.__struct_fields__})


async def drop_mute(db: Session, me: AccountId, other: AccountId) -> Mute | None:
    found: Mute | None = await db.one(_drop_mute, me=me, other=other)
    return found


async def end_mutes(db: Session, now: datetime, most: int) -> list[tuple[AccountId, AccountId]]:
    """Remove the mutes whose time is over: who muted whom."""
    return await db.all(_ended_mutes, now=now, most=most)


# Domains

_add_domain = command(add_once(domain_blocks))
_domain = and_(domain_blocks.c.account_id == _me, domain_blocks.c.domain == bindparam("domain"))
_drop_domain = command(delete(domain_blocks).where(_domain))
_blocks_domain = query(select(domain_blocks.c.id).where(_domain), int)
_blocked_domains_among = query(
    select(domain_blocks.c.domain).where(
        and_(domain_blocks.c.account_id == _me, any_of(domain_blocks.c.domain, "domains"))
    ),
    str,
)


def _at_domain(mine: ColumnElement[Any], theirs: ColumnElement[Any]) -> Select[Any]:
    return (
        select(theirs)
        .join(accounts, accounts.c.id == theirs)
        .where(and_(mine == _me, accounts.c.domain == bindparam("domain")))
    )


_followed_at = query(_at_domain(follows.c.account_id, follows.c.target_id).limit(bindparam("most")), AccountId)
_followers_at = query(_at_domain(follows.c.target_id, follows.c.account_id).limit(bindparam("most")), AccountId)
_asking_at = query(
    _at_domain(follow_requests.c.target_id, follow_requests.c.account_id).limit(bindparam("most")), AccountId
)
_asked_at = query(
    _at_domain(follow_requests.c.account_id, follow_requests.c.target_id).limit(bindparam("most")), AccountId
)
_count_followed_at = query(
    select(func.count()).select_from(_at_domain(follows.c.account_id, follows.c.target_id).subquery()), int
)
_count_followers_at = query(
    select(func.count()).select_from(_at_domain(follows.c.target_id, follows.c.account_id).subquery()), int
)


async def add_domain_block(db: Session, me: AccountId, domain: str, *, id: int, now: datetime) -> bool:
    return await db.run(_add_domain, id=id, account_id=me, domain=domain, created_at=now) == 1


async def drop_domain_block(db: Session, me: AccountId, domain: str) -> bool:
    return await db.run(_drop_domain, me=me, domain=domain) == 1


async def blocks_domain(db: Session, me: AccountId, domain: str) -> bool:
    return await db.one(_blocks_domain, me=me, domain=domain) is not None


async def blocked_domains_among(db: Session, me: AccountId, domains: Sequence[str]) -> set[str]:
    """Which of these I block."""
    return set(await db.all(_blocked_domains_among, me=me, domains=list(domains))) if domains else set()


async def tied_to_domain(db: Session, me: AccountId, domain: str, most: int) -> set[AccountId]:
    """Some of those at a domain who follow me, whom I follow, or where either asked to."""
    ties = (_followed_at, _followers_at, _asking_at, _asked_at)
    return {id for tie in ties for id in await db.all(tie, me=me, domain=domain, most=most)}


async def count_at_domain(db: Session, me: AccountId, domain: str) -> tuple[int, int]:
    """How many I follow there, and how many from there follow me."""
    following = await db.one(_count_followed_at, me=me, domain=domain) or 0
    return following, await db.one(_count_followers_at, me=me, domain=domain) or 0


# Everybody somebody has to do with

_tied = query(
    union_all(
        *(
            select(theirs).where(mine == _me)
            for table in (follows, follow_requests)
            for mine, theirs in (
                (table.c.account_id, table.c.target_id),
                (table.c.target_id, table.c.account_id),
            )
        )
    ).limit(bindparam("most")),
    AccountId,
)
_forget_own = [
    command(delete(table).where(table.c.account_id == _me))
    for table in (blocks, mutes, endorsements, domain_blocks, account_notes)
]


async def tied_to(db: Session, me: AccountId, most: int) -> set[AccountId]:
    """Some of those who follow me, whom I follow, or where either asked to."""
    return set(await db.all(_tied, me=me, most=most))


async def forget_own(db: Session, me: AccountId) -> None:
    """Whom somebody blocked, muted, endorsed or took notes of."""
    for statement in _forget_own:
        await db.run(statement, me=me)


# Endorsements and notes

_add_endorsement = command(add_once(endorsements))
_drop_endorsement = command(delete(endorsements).where(_pair(endorsements)))
_new_note = upsert(account_notes).values(account_id=_me, target_id=_other, comment=bindparam("comment"))
_save_note = command(
    _new_note.on_conflict_do_update(
        index_elements=[account_notes.c.account_id, account_notes.c.target_id],
        set_={"comment": _new_note.excluded.comment},
    ).inline()
)
_drop_note = command(delete(account_notes).where(_pair(account_notes)))


async def endorse(db: Session, me: AccountId, other: AccountId, *, id: int, now: datetime) -> bool:
    return await db.run(_add_endorsement, id=id, account_id=me, target_id=other, created_at=now) == 1


async def unendorse(db: Session, me: AccountId, other: AccountId) -> bool:
    return await db.run(_drop_endorsement, me=me, other=other) == 1


async def save_note(db: Session, me: AccountId, other: AccountId, comment: str) -> None:
    """An empty note is none."""
    if comment:
        await db.run(_save_note, me=me, other=other, comment=comment)
    else:
        await db.run(_drop_note, me=me, other=other)


# Everything between one account and others, in one query

(
    KNOWN, FOLLOWING, FOLLOWED_BY, REQUESTED, REQUESTED_BY, BLOCKING, BLOCKED_BY, MUTING, DOMAIN_BLOCKING, ENDORSED,
    NOTED,
) = range(11)  # fmt: skip


def _tie(
    flag: int,
    other: ColumnElement[Any],
    clause: ColumnElement[bool],
    *,
    first: ColumnElement[Any] | None = None,
    second: ColumnElement[Any] | None = None,
    languages: ColumnElement[Any] | None = None,
    comment: ColumnElement[Any] | None = None,
    until: ColumnElement[Any] | None = None,
) -> Select[Any]:
    return select(
        literal_column(str(flag), Integer).label("flag"),
        cast(other, BigInteger).label("id"),
        (cast(null(), Boolean) if first is None else first).label("first"),
        (cast(null(), Boolean) if second is None else second).label("second"),
        (cast(null(), Document()) if languages is None else languages).label("languages"),
        (cast(null(), Text) if comment is None else comment).label("comment"),
        (cast(null(), Instant()) if until is None else until).label("until"),
    ).where(clause)


def _mine(table: Table) -> tuple[ColumnElement[Any], ColumnElement[bool]]:
    return table.c.target_id, and_(table.c.account_id == _me, any_of(table.c.target_id, "ids"))


def _theirs(table: Table) -> tuple[ColumnElement[Any], ColumnElement[bool]]:
    return table.c.account_id, and_(table.c.target_id == _me, any_of(table.c.account_id, "ids"))


def _wants(flag: int, table: Table) -> Select[Any]:
    return _tie(flag, *_mine(table), first=table.c.reblogs, second=table.c.notify, languages=table.c.languages)


_is_gone = or_(accounts.c.suspended_at.is_not(None), accounts.c.deleted_at.is_not(None))
_muted, _is_mine = _mine(mutes)
_ties = query(
    union_all(
        _tie(KNOWN, accounts.c.id, any_of(accounts.c.id, "ids"), first=_is_gone),
        _wants(FOLLOWING, follows),
        _tie(FOLLOWED_BY, *_theirs(follows)),
        _wants(REQUESTED, follow_requests),
        _tie(REQUESTED_BY, *_theirs(follow_requests)),
        _tie(BLOCKING, *_mine(blocks)),
        _tie(BLOCKED_BY, *_theirs(blocks)),
        _tie(MUTING, _muted, and_(_is_mine, lasts(mutes)), first=mutes.c.hide_notifications, until=mutes.c.expires_at),
        _tie(
            DOMAIN_BLOCKING,
            accounts.c.id,
            and_(
                any_of(accounts.c.id, "ids"),
                accounts.c.domain == domain_blocks.c.domain,
                domain_blocks.c.account_id == _me,
            ),
        ),
        _tie(ENDORSED, *_mine(endorsements)),
        _tie(NOTED, *_mine(account_notes), comment=account_notes.c.comment),
    ),
    tuple,
)


async def ties(
    db: Session, me: AccountId, ids: Sequence[int], now: datetime
) -> list[tuple[int, int, Any, Any, Any, str | None, datetime | None]]:
    """What there is, by flag and account: two switches, languages, a comment, an end, where the flag has them."""
    return await db.all(_ties, me=me, ids=list(ids), now=now)


# What people here lose with accounts that go

_lost_follows = query(
    select(follows.c.account_id, func.count())
    .join(accounts, accounts.c.id == follows.c.account_id)
    .where(and_(any_of(follows.c.target_id, "ids"), accounts.c.domain == ""))
    .group_by(follows.c.account_id),
    tuple,
)
_lost_followers = query(
    select(follows.c.target_id, func.count())
    .join(accounts, accounts.c.id == follows.c.target_id)
    .where(and_(any_of(follows.c.account_id, "ids"), accounts.c.domain == ""))
    .group_by(follows.c.target_id),
    tuple,
)


async def lost_with(db: Session, ids: Sequence[AccountId]) -> dict[AccountId, tuple[int, int]]:
    """How many followers, and how many people they follow, each person here loses when these accounts go."""
    followers: dict[AccountId, int] = dict(await db.all(_lost_followers, ids=list(ids)))
    following: dict[AccountId, int] = dict(await db.all(_lost_follows, ids=list(ids)))
    return {id: (followers.get(id, 0), following.get(id, 0)) for id in sorted({*followers, *following})}
