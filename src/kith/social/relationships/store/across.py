"""Who follows whom across two servers: for other servers, which want to know whether they agree."""

from __future__ import annotations

from sqlalchemy import and_, bindparam, or_, select

from kith.base.db import Session, any_of, query
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId
from kith.social.relationships.tables import follow_requests, follows

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
_asking_here = query(
    select(accounts.c.id)
    .select_from(follow_requests.join(accounts, accounts.c.id == follow_requests.c.account_id))
    .where(and_(follow_requests.c.target_id == bindparam("account"), accounts.c.domain == "")),
    AccountId,
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
    return await db.slow(_at_host, account=account_id, secure=f"https://{escaped}/%", plain=f"http://{escaped}/%")


async def followers_here(db: Session, account_id: AccountId) -> dict[str, AccountId]:
    """Who of ours follows somebody elsewhere, by their ids."""
    return {uri: id for id, uri in await db.all(_here, account=account_id)}


async def asking_here(db: Session, account_id: AccountId) -> set[AccountId]:
    """Who of ours waits to be let in by somebody elsewhere."""
    return set(await db.all(_asking_here, account=account_id))


async def find_ours(db: Session, uris: list[str]) -> dict[str, AccountId]:
    return {uri: id for id, uri in await db.slow(_local_by_uri, uris=uris)}
