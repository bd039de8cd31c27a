from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import String, and_, bindparam, case, delete, func, literal_column, or_, select, update

from kith.base.db import Command, Instant, Session, any_of, command, insert_into, query
from kith.base.errors import NotFound
from kith.identity.lost_names import keep_names_of_people
from kith.identity.users import former_names
from kith.identity.users.names import email_key, username_key
from kith.identity.users.tables import User, is_active, users


class Login(msgspec.Struct):
    """As much of a user as every request needs.

    Whoever waits for approval is not active here.
    """

    id: int
    username: str
    password: str | None
    is_active: bool
    role: str
    is_confirmed: bool
    expires: datetime | None = None
    password_changed_at: datetime | None = None

    def is_outdated(self, now: datetime) -> bool:
        """Whether the end that was set for them may have come since this was read."""
        return self.expires is not None and self.expires <= now


_login = select(
    users.c.id,
    users.c.username,
    users.c.password,
    and_(is_active(), users.c.approved_at.is_not(None)).label("is_active"),
    users.c.role,
    or_(users.c.confirmed_at.is_not(None), users.c.email == "").label("is_confirmed"),
    users.c.expires,
    users.c.password_changed_at,
)
_login_by_key = query(_login.where(users.c.username_key == bindparam("key")), Login)
_login_by_id = query(_login.where(users.c.id == bindparam("user")), Login)
_by_id = query(select(users).where(users.c.id == bindparam("user")), User)
_hold = query(select(users).where(users.c.id == bindparam("user")).with_for_update(key_share=True), User)
_by_key = query(select(users).where(users.c.username_key == bindparam("key")), User)
# The owner of an address comes before a user whose name looks like it.
_typed = or_(users.c.owned_email_key == bindparam("address"), users.c.username_key == bindparam("key"))
_owner_first = case((users.c.owned_email_key == bindparam("address"), literal_column("0")), else_=literal_column("1"))
_by_typed = query(select(users).where(_typed).order_by(_owner_first).limit(1), User)
_login_by_typed = query(_login.where(_typed).order_by(_owner_first).limit(1), Login)
_owner = query(select(users).where(users.c.owned_email_key == bindparam("key")), User)
_release = command(
    update(users)
    .where(
        and_(
            users.c.owned_email_key == bindparam("key"),
            users.c.email_verified_at.is_(None),
            users.c.id != bindparam("user"),
        )
    )
    .values(owned_email_key=None)
)
_subjects = query(
    select(users.c.id, users.c.subject).where(and_(any_of(users.c.id, "ids"), users.c.subject.is_not(None))), tuple
)
_verified = query(
    select(users.c.id).where(
        and_(any_of(users.c.id, "ids"), users.c.owned_email_key.is_not(None), users.c.email_verified_at.is_not(None))
    ),
    int,
)
_insert = query(insert_into(users, without=["id"]).returning(users.c.id), int)
_with_email = query(
    select(users).where(users.c.email_key == bindparam("key")).order_by(users.c.username, users.c.id), User
)
# `->>` works on both databases.
_with_upn = query(
    select(users)
    .where(func.lower(users.c.attributes.op("->>", return_type=String)(literal_column("'upn'"))) == bindparam("upn"))
    .order_by(users.c.id)
    .limit(2),
    User,
)
_other = users.c.id != bindparam("user")
_called = query(select(users.c.id).where(any_of(users.c.username_key, "names"), _other).limit(1), int)
_with_upn_of = query(
    select(users.c.id)
    .where(
        any_of(func.lower(users.c.attributes.op("->>", return_type=String)(literal_column("'upn'"))), "names"), _other
    )
    .limit(1),
    int,
)
_with_distinguished_name = query(
    select(users.c.id)
    .where(
        func.lower(users.c.attributes.op("->>", return_type=String)(literal_column("'distinguishedName'")))
        == bindparam("name")
    )
    .limit(2),
    int,
)
_listed = query(
    select(users)
    .where(
        and_(
            users.c.role.like(bindparam("role")),
            or_(
                users.c.username_key.like(bindparam("part"), escape="!"),
                users.c.email_key.like(bindparam("part"), escape="!"),
                func.lower(users.c.name).like(bindparam("part"), escape="!"),
            ),
        )
    )
    .order_by(users.c.username, users.c.id)
    .limit(bindparam("most")),
    User,
)
_names_near = query(
    select(users.c.username)
    .where(func.length(users.c.username_key).between(bindparam("fewest"), bindparam("most")))
    .order_by(users.c.id)
    .limit(10_000),
    str,
)
_insert_many = command(insert_into(users, without=["id"]))
_set = {
    name: command(
        update(users)
        .where(users.c.id == bindparam("user"))
        .values(
            {
                name: bindparam("value", type_=users.c[name].type),
                "updated_at": bindparam("now", type_=Instant()),
            }
        )
    )
    for name in ("is_active", "role", "confirmed_at", "approved_at", "last_login_at", "expires")
}
_at = bindparam("at", type_=Instant())
_seen = command(
    update(users)
    .where(and_(users.c.id == bindparam("user"), or_(users.c.last_seen_at.is_(None), users.c.last_seen_at < _at)))
    .values(last_seen_at=_at)
)
_set_password = command(
    update(users)
    .where(users.c.id == bindparam("user"))
    .values(
        password=bindparam("hash"),
        password_changed_at=bindparam("now", type_=Instant()),
        updated_at=bindparam("now", type_=Instant()),
    )
)
_rehash = command(
    update(users)
    .where(and_(users.c.id == bindparam("user"), users.c.password == bindparam("old")))
    .values(password=bindparam("hash"))
)
_retire_password = command(
    update(users)
    .where(and_(users.c.id == bindparam("user"), users.c.password == bindparam("old")))
    .values(password=None, updated_at=bindparam("now", type_=Instant()))
)
_remove_password = command(
    update(users)
    .where(users.c.id == bindparam("user"))
    .values(
        password=None,
        password_changed_at=bindparam("now", type_=Instant()),
        updated_at=bindparam("now", type_=Instant()),
    )
)
_place = command(
    update(users)
    .where(users.c.id == bindparam("user"))
    .values(type=bindparam("kind"), is_active=bindparam("active", type_=users.c.is_active.type))
)
_remove = command(delete(users).where(users.c.id == bindparam("user")))


async def find_login(db: Session, username: str) -> Login | None:
    return await db.one(_login_by_key, key=username_key(username))


async def find_login_typed(db: Session, typed: str) -> Login | None:
    """The user whose confirmed address or username was typed."""
    return await db.one(_login_by_typed, **_keys_of(typed))


async def find_typed(db: Session, typed: str, *, by_name: bool = True, by_address: bool = True) -> User | None:
    """As above. Both are always looked up, so that the time taken tells nothing."""
    keys = _keys_of(typed)
    return await db.one(_by_typed, key=keys["key"] if by_name else "", address=keys["address"] if by_address else "")


def _keys_of(typed: str) -> dict[str, str]:
    """An empty text matches nobody."""
    typed = typed.strip()
    return {"key": username_key(typed), "address": email_key(typed) if "@" in typed else ""}


async def owner_of(db: Session, email: str) -> User | None:
    """The person the address belongs to."""
    if not email:
        return None
    return await db.one(_owner, key=email_key(email))


async def release(db: Session, email: str, *, user_id: int) -> None:
    """Take the address from those who have not confirmed it: `user_id` has."""
    await db.run(_release, key=email_key(email), user=user_id)


async def verified(db: Session, ids: Sequence[int]) -> set[int]:
    """Those of these users whose address is confirmed."""
    return set(await db.all(_verified, ids=list(ids)))


async def subjects(db: Session, ids: Sequence[int]) -> dict[int, str]:
    """By what clients of another server know those of these users who came from there."""
    return dict(await db.all(_subjects, ids=list(ids)))


async def find_login_by_id(db: Session, user_id: int) -> Login | None:
    return await db.one(_login_by_id, user=user_id)


async def find(db: Session, username: str) -> User | None:
    return await db.one(_by_key, key=username_key(username))


async def get(db: Session, user_id: int) -> User:
    user = await db.one(_by_id, user=user_id)
    if user is None:
        raise NotFound
    return user


async def insert(db: Session, values: Mapping[str, Any]) -> User:
    row = _keyed(values)
    made = await db.one(_insert, **row)
    return User(id=made, **row)  # type: ignore[arg-type]


async def with_email(db: Session, email: str) -> list[User]:
    """All users with this address, confirmed or not."""
    return await db.all(_with_email, key=email_key(email))


async def all_with_upn(db: Session, name: str) -> list[User]:
    """Those with this principal name in their attributes, two at most."""
    return await db.all(_with_upn, upn=name.lower())


async def is_called_by_another(db: Session, names: Sequence[str], user_id: int) -> bool:
    """Whether somebody else has one of these as user name or principal name."""
    for statement in (_called, _with_upn_of):
        if await db.one(statement, names=list(names), user=user_id) is not None:
            return True
    return False


async def all_with_distinguished_name(db: Session, name: str) -> list[int]:
    """Users with this distinguished name in their attributes, two at most. Everybody is looked at, beside the loop."""
    return await db.slow(_with_distinguished_name, name=name.lower())


async def with_upn(db: Session, name: str) -> User | None:
    """The user with this principal name in their attributes, if it is only one."""
    found = await all_with_upn(db, name)
    return found[0] if len(found) == 1 else None


async def listed(db: Session, *, search: str = "", role: str | None = None, most: int) -> list[User]:
    """People by name, those with `search` in their username, name or address."""
    part = re.sub("([%_!])", r"!\1", username_key(search))
    return await db.all(_listed, part=f"%{part}%", role=role or "%", most=most)


async def names_near(db: Session, username: str) -> list[str]:
    """Usernames of about this length, to suggest one for a typing error."""
    length = len(username_key(username))
    return await db.all(_names_near, fewest=length - 2, most=length + 2)


async def insert_many(db: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    await db.many(_insert_many, [_keyed(row) for row in rows])


def _keyed(values: Mapping[str, Any]) -> dict[str, Any]:
    keys = {"username_key": username_key(values["username"]), "email_key": email_key(values["email"])}
    unsaid = dict.fromkeys(
        ("owned_email_key", "email_verified_at", "expires", "last_seen_at", "subject", "disabled_at", "disabled_by")
    )
    return {**unsaid, **values, **keys}


async def change(db: Session, user_id: int, name: str, value: object, now: datetime) -> None:
    await db.run(_set[name], user=user_id, value=value, now=now)


async def signed_in(db: Session, user_id: int, now: datetime) -> None:
    await change(db, user_id, "last_login_at", now, now)
    await seen(db, user_id, now)


async def seen(db: Session, user_id: int, at: datetime) -> None:
    """Somebody was here; an earlier moment than the one that is known changes nothing."""
    await db.run(_seen, user=user_id, at=at)


async def set_password(db: Session, user_id: int, hash: str, now: datetime) -> None:
    await db.run(_set_password, user=user_id, hash=hash, now=now)


async def find_by_id(db: Session, user_id: int) -> User | None:
    return await db.one(_by_id, user=user_id)


async def write(db: Session, user_id: int, values: Mapping[str, Any], now: datetime) -> None:
    await db.run(_write(frozenset(values)), user=user_id, now=now, **{f"new_{name}": v for name, v in values.items()})


@lru_cache(64)
def _write(names: frozenset[str]) -> Command:
    values = {name: bindparam(f"new_{name}", type_=users.c[name].type) for name in sorted(names)}
    values["updated_at"] = bindparam("now", type_=Instant())
    return command(update(users).where(users.c.id == bindparam("user")).values(values))


async def remove_password(db: Session, user_id: int, now: datetime) -> None:
    """No password works from now on, whichever it was."""
    await db.run(_remove_password, user=user_id, now=now)


async def place(db: Session, user_id: int, *, type: str, active: bool) -> None:
    await db.run(_place, user=user_id, kind=type, active=active)


async def set_attributes(db: Session, user_id: int, attributes: dict[str, Any], now: datetime) -> None:
    await write(db, user_id, {"attributes": attributes}, now)


async def hold(db: Session, user_id: int) -> User:
    """The person as they are now; nobody else changes them until the transaction ends, which this opens."""
    await db.begin()
    user = await db.one(_hold, user=user_id)
    if user is None:
        raise NotFound
    return user


async def remove(db: Session, user_id: int, *, keeps_name: bool = True) -> None:
    """Delete somebody. Nobody else takes their name, unless it was made up for one visit."""
    if keeps_name:
        await former_names.keep(db, user_id)
    await keep_names_of_people(db, [user_id])
    await db.run(_remove, user=user_id)


async def retire_password(db: Session, user_id: int, old: str, now: datetime) -> bool:
    """Remove this password; False if another was set meanwhile."""
    return await db.run(_retire_password, user=user_id, old=old, now=now) == 1


async def rehash(db: Session, user_id: int, old: str, hash: str) -> None:
    """Store the new hash, if the password is still the one that was checked."""
    await db.run(_rehash, user=user_id, old=old, hash=hash)
