"""Who follows whom across two servers: for other servers, which want to know whether they agree."""

from __future__ import annotations

from sqlalchemy import and_, bindparam, or_, select

from kith.base.db import Session, any_of, query
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId
from kith.social.relationships.tables import follows

_of_account = and_(follows.c.target_id == bindparam("account"), accounts.c.deleted_at.is_(None))
_elsewhere = (
    select(accounts.c.uri)
    .select_from(follows.join(accounts, accounts.c.id == follows.c.account_id))
    .where(and_(_of_account, accounts.c.domain != ""))
)
_at_host = query(
    _elsewhere.where(
        or_(
            accounts.c.uri.like(bindparam("secure"), escape="!"),
            accounts.c.uri.like(bindparam("plain"), escape="!"),
        )
    ).order_by(accounts.c.uri),
    str,
)
_here = query(
    select(accounts.c.id, accounts.c.uri)
    .select_from(follows.join(accounts, accounts.c.id == follows.c.account_id))
    .where(and_(_of_account, accounts.c.domain == "")),
    tuple,
)
_local_by_uri = query(
    select(accounts.c.id, accounts.c.uri).where(
        and_(any_of(accounts.c.uri, "uris"), accounts.c.domain == "", accounts.c.deleted_at.is_(None))
    ),
    tuple,
)


async def followers_at(db: Session, account_id: AccountId, host: str) -> list[str]:
    """Who follows one of ours from one host, which is that of their ids, wherever handles live."""
    escaped = host.lower().replace("!", "!!").replace("_", "!_").replace("%", "!%")
    return await db.all(_at_host, account=account_id, secure=f"https://{escaped}/%", plain=f"http://{escaped}/%")


async def followers_here(db: Session, account_id: AccountId) -> dict[str, AccountId]:
    """Who of ours follows somebody elsewhere, by their ids."""
    return {uri: id for id, uri in await db.all(_here, account=account_id)}


async def find_ours(db: Session, uris: list[str]) -> dict[str, AccountId]:
    return {uri: id for id, uri in await db.all(_local_by_uri, uris=uris)}
