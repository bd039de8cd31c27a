from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import and_, bindparam, delete, or_, select, update

from kith.base.db import Command, Instant, Session, any_of, command, insert_into, query, upsert
from kith.social.accounts.tables import ORPHANED, Account, AccountCounts, Preferences, accounts, preferences
from kith.social.ids import AccountId, UserId
from kith.social.versions import changed, counted

_insert = command(insert_into(accounts))
_by_id = query(select(accounts).where(accounts.c.id == bindparam("account")), Account)
_by_ids = query(select(accounts).where(any_of(accounts.c.id, "ids")), Account)
_counts_by_ids = query(
    select(*(accounts.c[name] for name in AccountCounts.__struct_fields__)).where(any_of(accounts.c.id, "ids")),
    AccountCounts,
)
_by_user = query(select(accounts).where(accounts.c.user_id == bindparam("user")), Account)
_by_users = query(select(accounts).where(any_of(accounts.c.user_id, "users")), Account)
_by_name = query(
    select(accounts).where(and_(accounts.c.username_key == bindparam("key"), accounts.c.domain == bindparam("domain"))),
    Account,
)
_by_names = query(select(accounts).where(any_of(accounts.c.username_key, "keys")), Account)
_by_uri = query(select(accounts).where(accounts.c.uri == bindparam("uri")), Account)
_names_like = query(
    select(accounts.c.username_key).where(
        and_(accounts.c.domain == "", accounts.c.username_key.like(bindparam("part"), escape="!"))
    ),
    str,
)
_with_role = query(select(accounts).where(accounts.c.role_id == bindparam("role")), Account)
_show_role = command(
    update(accounts)
    .where(
        or_(
            accounts.c.role_id == bindparam("role"),
            and_(accounts.c.domain == "", accounts.c.role_id.is_(None), accounts.c.role == bindparam("base")),
        )
    )
    .values(version=changed(accounts))
)
_delete = command(delete(accounts).where(accounts.c.id == bindparam("account")))
_orphans = query(select(accounts).where(ORPHANED).limit(bindparam("most")), Account)
_count = command(
    update(accounts)
    .where(accounts.c.id == bindparam("account"))
    .values(
        statuses_count=accounts.c.statuses_count + bindparam("statuses"),
        followers_count=accounts.c.followers_count + bindparam("followers"),
        following_count=accounts.c.following_count + bindparam("following"),
        version=counted(accounts),
    )
)
_posted = command(
    update(accounts)
    .where(accounts.c.id == bindparam("account"))
    .values(
        statuses_count=accounts.c.statuses_count + 1,
        last_status_at=bindparam("now", type_=Instant()),
        version=counted(accounts),
    )
)
_preferences = query(select(preferences).where(preferences.c.account_id == bindparam("account")), Preferences)
_columns = {column.name: bindparam(column.name, type_=column.type) for column in preferences.columns}
_new_preferences = upsert(preferences).values(_columns)
_save_preferences = command(
    _new_preferences.on_conflict_do_update(
        index_elements=[preferences.c.account_id],
        set_={name: _new_preferences.excluded[name] for name in _columns if name != "account_id"},
    ).inline()
)


async def insert(db: Session, account: Account) -> None:
    """Raises `Taken` where the name, the address or the person has an account already."""
    await db.run(_insert, **{name: getattr(account, name) for name in Account.__struct_fields__})


async def find(db: Session, account_id: AccountId) -> Account | None:
    return await db.one(_by_id, account=account_id)


async def find_all(db: Session, ids: Sequence[AccountId]) -> dict[AccountId, Account]:
    """Those that are there, by id."""
    return {account.id: account for account in await db.all(_by_ids, ids=list(ids))} if ids else {}


async def find_counts(db: Session, ids: Sequence[AccountId]) -> list[AccountCounts]:
    return await db.all(_counts_by_ids, ids=list(ids)) if ids else []


async def find_of_user(db: Session, user_id: UserId) -> Account | None:
    return await db.one(_by_user, user=user_id)


async def find_of_users(db: Session, user_ids: Sequence[UserId]) -> list[Account]:
    return await db.all(_by_users, users=list(user_ids))


async def find_named(db: Session, username: str, domain: str = "") -> Account | None:
    """Nobody has a name that no database could hold."""
    if "\0" in username or "\0" in domain:
        return None
    return await db.one(_by_name, key=username.lower(), domain=domain.lower())


async def find_all_named(db: Session, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Account]:
    """By name and domain, both in lower case."""
    if not names:
        return {}
    found = await db.all(_by_names, keys=sorted({name for name, _ in names}))
    wanted = set(names)
    return {(one.username_key, one.domain): one for one in found if (one.username_key, one.domain) in wanted}


async def find_by_uri(db: Session, uri: str) -> Account | None:
    return await db.one(_by_uri, uri=uri)


async def names_beginning(db: Session, key: str) -> set[str]:
    escaped = key.replace("!", "!!").replace("_", "!_").replace("%", "!%")
    return set(await db.all(_names_like, part=f"{escaped}%"))


async def delete_row(db: Session, account_id: AccountId) -> None:
    await db.run(_delete, account=account_id)


async def find_orphans(db: Session, most: int) -> list[Account]:
    """Accounts of members whose record is gone."""
    return await db.all(_orphans, most=most)


async def count(
    db: Session, account_id: AccountId, *, statuses: int = 0, followers: int = 0, following: int = 0
) -> None:
    await db.run(_count, account=account_id, statuses=statuses, followers=followers, following=following)


async def posted(db: Session, account_id: AccountId, now: datetime, *, counts: bool) -> None:
    """What does not count is nobody's business: when somebody posted last is shown to everybody."""
    if counts:
        await db.run(_posted, account=account_id, now=now)


@lru_cache(256)
def _change(names: frozenset[str]) -> Command:
    values = {name: bindparam(name, type_=accounts.c[name].type) for name in names}
    return command(
        update(accounts)
        .where(accounts.c.id == bindparam("account"))
        .values({**values, "version": changed(accounts), "updated_at": bindparam("now", type_=Instant())})
    )


async def change(db: Session, account_id: AccountId, changed: Mapping[str, Any], now: datetime) -> None:
    """What is shown of the account is another from now on, so its version grows."""
    await db.run(_change(frozenset(changed)), account=account_id, now=now, **changed)


async def find_preferences(db: Session, account_id: AccountId) -> Preferences:
    return await db.one(_preferences, account=account_id) or Preferences(account_id=account_id)


async def save_preferences(db: Session, kept: Preferences) -> None:
    await db.run(_save_preferences, **{name: getattr(kept, name) for name in Preferences.__struct_fields__})


async def with_role_id(db: Session, role_id: int) -> list[Account]:
    """Whoever has a freely defined role."""
    return await db.all(_with_role, role=role_id)


async def show_anew(db: Session, role_id: int, base: str) -> None:
    """What is shown of a role has changed: also on all who have it, by its id or because their record says `base`."""
    await db.run(_show_role, role=role_id, base=base)
