"""Other servers, as the operator sees them."""

from __future__ import annotations

import msgspec
from sqlalchemy import func, select

from kith.base.db import query
from kith.base.work import Work
from kith.federation.delivery import operators
from kith.federation.gate.rules import Lists
from kith.social.accounts.tables import accounts
from kith.social.admission import store as admission

__all__ = ["Peer", "every_peer"]

_SERVER = "Application"  # what servers are that sign for themselves: they are no people
_counts = query(
    select(accounts.c.domain, func.count().filter(accounts.c.actor_type != _SERVER))
    .where(accounts.c.domain != "")
    .group_by(accounts.c.domain)
    .order_by(accounts.c.domain),
    tuple,
)


class Peer(msgspec.Struct, frozen=True):
    """`accounts` are people and bots; `state` is how deliveries go.

    `block` is how severe the team was, `allowed` whether it is on the list.
    """

    domain: str
    accounts: int
    state: str
    waiting: int
    block: str | None
    allowed: bool
    error: str | None


async def every_peer(work: Work) -> list[Peer]:
    """Every server of which somebody is known here, that something was sent to, or that is blocked or allowed."""
    counts: dict[str, int] = dict(await work.db.slow(_counts))
    hosts = {one.domain: one for one in await operators.list_hosts(work)}
    blocks = Lists({one.domain: one for one in await admission.every(work.db, "domain_block")})
    allowed = {one.domain for one in await admission.every(work.db, "domain_allow")}
    found = []
    for domain in sorted({*counts, *hosts, *blocks.blocks, *allowed}):
        host, rule = hosts.get(domain), blocks.block_of(domain)
        found.append(
            Peer(
                domain=domain,
                accounts=counts.get(domain, 0),
                state="ok" if host is None else host.state,
                waiting=0 if host is None else host.waiting,
                block=None if rule is None else rule.severity,
                allowed=domain in allowed,
                error=None if host is None else host.error,
            )
        )
    return found
