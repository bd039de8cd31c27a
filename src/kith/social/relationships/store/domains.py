"""Domains that somebody blocks, and whom they know there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, Text, and_, bindparam, delete, func, select

from kith.base.db import Session, add_once, any_of, command, query
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId
from kith.social.relationships.store.common import ME
from kith.social.relationships.tables import domain_blocks, follow_requests, follows
from kith.social.remote_servers import is_of_server, without_port

_add_domain = command(add_once(domain_blocks))
_domain = and_(domain_blocks.c.account_id == ME, domain_blocks.c.domain == bindparam("domain"))
_count_domains = query(
    select(func.count()).select_from(
        select(domain_blocks.c.id).where(domain_blocks.c.account_id == ME).limit(bindparam("most")).subquery()
    ),
    int,
)
_drop_domain = command(delete(domain_blocks).where(_domain))
_blocked_domains_among = query(
    select(domain_blocks.c.domain).where(
        and_(domain_blocks.c.account_id == ME, any_of(domain_blocks.c.domain, "domains"))
    ),
    str,
)


def _at_domain(mine: ColumnElement[Any], theirs: ColumnElement[Any]) -> Select[Any]:
    return (
        select(theirs)
        .join(accounts, accounts.c.id == theirs)
        .where(and_(mine == ME, is_of_server(accounts.c.domain, bindparam("domain", type_=Text()))))
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


async def count_domain_blocks(db: Session, me: AccountId, most: int) -> int:
    """Up to `most`."""
    return await db.one(_count_domains, me=me, most=most) or 0


async def drop_domain_block(db: Session, me: AccountId, domain: str) -> bool:
    return await db.run(_drop_domain, me=me, domain=domain) == 1


async def blocks_domain(db: Session, me: AccountId, domain: str) -> bool:
    return bool(await blocked_domains_among(db, me, [domain]))


async def blocked_domains_among(db: Session, me: AccountId, domains: Sequence[str]) -> set[str]:
    """Which of these I block, by themselves or with all ports of their name."""
    if not domains:
        return set()
    named = {name for domain in domains for name in (domain, without_port(domain))}
    blocked = set(await db.all(_blocked_domains_among, me=me, domains=sorted(named)))
    return {domain for domain in domains if domain in blocked or without_port(domain) in blocked}


async def tied_to_domain(db: Session, me: AccountId, domain: str, most: int) -> set[AccountId]:
    """Some of those at a domain who follow me, whom I follow, or where either asked to."""
    ties = (_followed_at, _followers_at, _asking_at, _asked_at)
    return {id for tie in ties for id in await db.all(tie, me=me, domain=domain, most=most)}


async def count_at_domain(db: Session, me: AccountId, domain: str) -> tuple[int, int]:
    """How many I follow there, and how many from there follow me."""
    following = await db.one(_count_followed_at, me=me, domain=domain) or 0
    return following, await db.one(_count_followers_at, me=me, domain=domain) or 0
