from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import BindParameter, Table, and_, bindparam, delete, func, or_, select, update

from kith.base.db import Command, Instant, Query, Session, any_of, command, insert_into, query, upsert
from kith.base.paging import Cursor
from kith.social.accounts.tables import accounts
from kith.social.admission.tables import (
    NOT_LISTED,
    CanonicalEmailBlock,
    EmailDomainBlock,
    IPBlock,
    ServerAllow,
    ServerBlock,
    canonical_email_blocks,
    email_domain_blocks,
    email_domain_tries,
    federation_mode,
    ip_blocks,
    server_allows,
    server_blocks,
)
from kith.social.id_lists import IdList
from kith.social.remote_servers import names_above
from kith.social.versions import changed

_id: BindParameter[Any] = bindparam("id")
_now = bindparam("now", type_=Instant())

KINDS: dict[str, tuple[Table, type[Any]]] = {
    "domain_block": (server_blocks, ServerBlock),
    "domain_allow": (server_allows, ServerAllow),
    "email_domain_block": (email_domain_blocks, EmailDomainBlock),
    "ip_block": (ip_blocks, IPBlock),
    "canonical_email_block": (canonical_email_blocks, CanonicalEmailBlock),
}
_one: dict[str, Query[Any]] = {
    kind: query(select(table).where(table.c.id == _id), row) for kind, (table, row) in KINDS.items()
}
_insert = {kind: command(insert_into(table)) for kind, (table, _) in KINDS.items()}
_delete = {kind: command(delete(table).where(table.c.id == _id)) for kind, (table, _) in KINDS.items()}
_walks = {kind: IdList(select(table), table.c.id, row=row) for kind, (table, row) in KINDS.items()}
_every = {kind: query(select(table).order_by(table.c.id), row) for kind, (table, row) in KINDS.items()}


async def find(db: Session, kind: str, id: int) -> Any | None:
    return await db.one(_one[kind], id=id)


async def insert(db: Session, kind: str, row: msgspec.Struct) -> None:
    """Raises `Taken` where there is one like it."""
    await db.run(_insert[kind], **msgspec.structs.asdict(row))


async def remove(db: Session, kind: str, id: int) -> None:
    await db.run(_delete[kind], id=id)


async def page_of(db: Session, kind: str, cursor: Cursor) -> list[Any]:
    statement, values = _walks[kind].form(cursor)
    rows = await db.all(statement, **values)
    return rows[::-1] if cursor.is_ascending else rows


async def every(db: Session, kind: str) -> list[Any]:
    return await db.all(_every[kind])


@lru_cache(32)
def _change(kind: str, names: frozenset[str]) -> Command:
    table = KINDS[kind][0]
    values = {name: bindparam(f"new_{name}", type_=table.c[name].type) for name in sorted(names)}
    return command(update(table).where(table.c.id == _id).values(values))


async def change(db: Session, kind: str, id: int, values: Mapping[str, Any]) -> None:
    await db.run(_change(kind, frozenset(values)), id=id, **{f"new_{name}": v for name, v in values.items()})


# Servers

_by_domains = query(select(server_blocks).where(any_of(server_blocks.c.domain, "domains")), ServerBlock)
_allowed = query(select(server_allows).where(server_allows.c.domain == bindparam("domain")), ServerAllow)
_known_below = query(
    select(accounts.c.domain)
    .where(
        or_(
            accounts.c.domain == bindparam("domain"),
            *(
                and_(accounts.c.domain != "", accounts.c.domain.like(bindparam(pattern), escape="!"))
                for pattern in ("below", "at_port", "below_at_port")
            ),
        )
    )
    .distinct(),
    str,
)
_at = accounts.c.domain == bindparam("domain")
_mark = bindparam("mark", type_=Instant())
_lift = {
    name: command(
        update(accounts).where(and_(_at, accounts.c[name] == _mark)).values({name: None, "version": changed(accounts)})
    )
    for name in ("silenced_at", "suspended_at")
}
_set = {
    name: command(
        update(accounts)
        .where(and_(_at, accounts.c[name].is_(None)))
        .values({name: _mark, "version": changed(accounts)})
    )
    for name in ("silenced_at", "suspended_at")
}


_is_not_listed = and_(
    accounts.c.domain != "", accounts.c.domain.not_in(select(server_allows.c.domain)), accounts.c.suspended_at.is_(None)
)
_unlisted = query(
    select(accounts.c.domain)
    .where(and_(_is_not_listed, accounts.c.domain > bindparam("after")))
    .distinct()
    .order_by(accounts.c.domain)
    .limit(bindparam("most")),
    str,
)
_marked = query(
    select(accounts.c.domain)
    .where(and_(accounts.c.domain > bindparam("after"), accounts.c.suspended_at == _mark))
    .distinct()
    .order_by(accounts.c.domain)
    .limit(bindparam("most")),
    str,
)
_mode = query(select(federation_mode.c.mode).where(federation_mode.c.id == 1), str)
_new_mode = upsert(federation_mode).values(id=1, mode=bindparam("mode"))
_set_mode = command(
    _new_mode.on_conflict_do_update(index_elements=["id"], set_={"mode": _new_mode.excluded["mode"]}).inline()
)


async def unlisted_domains(db: Session, after: str, most: int) -> list[str]:
    """Servers that are not on the list and have accounts here that are not suspended yet."""
    return await db.all(_unlisted, after=after, most=most)


async def marked_domains(db: Session, mark: datetime, after: str, most: int) -> list[str]:
    """Servers with accounts that were suspended at a certain moment."""
    return await db.all(_marked, mark=mark, after=after, most=most)


async def shut_out(db: Session, domain: str) -> None:
    """Suspend the accounts of a server that is not on the list."""
    await db.run(_set["suspended_at"], domain=domain, mark=NOT_LISTED)


async def federation_mode_kept(db: Session) -> str:
    return await db.one(_mode) or "open"


async def keep_federation_mode(db: Session, mode: str) -> None:
    await db.run(_set_mode, mode=mode)


async def blocks_of(db: Session, domain: str) -> list[ServerBlock]:
    """Those of a domain and of the domains above it, the most specific first."""
    names = list(names_above(domain))
    found = await db.all(_by_domains, domains=names)
    return sorted(found, key=lambda one: names.index(one.domain))


async def blocks_among(db: Session, domains: Sequence[str]) -> list[ServerBlock]:
    return await db.all(_by_domains, domains=list(domains))


async def find_allow(db: Session, domain: str) -> ServerAllow | None:
    return await db.one(_allowed, domain=domain)


async def known_below(db: Session, domain: str) -> list[str]:
    """Domains of accounts that are known: this one, and those below it, at whatever port."""
    escaped = domain.replace("!", "!!").replace("_", "!_").replace("%", "!%")
    patterns = {"below": f"%.{escaped}", "at_port": f"{escaped}:%", "below_at_port": f"%.{escaped}:%"}
    return await db.slow(_known_below, domain=domain, **patterns)


async def lift(db: Session, domain: str, mark: datetime) -> None:
    """What a block had done to the accounts of a domain; `mark` is when it began."""
    for statement in _lift.values():
        await db.run(statement, domain=domain, mark=mark)


async def enforce(db: Session, domain: str, severity: str, mark: datetime) -> bool:
    """Whether anybody is suspended now who was not before."""
    if severity == "noop":
        return False
    changed = await db.run(_set["silenced_at" if severity == "silence" else "suspended_at"], domain=domain, mark=mark)
    return severity == "suspend" and changed > 0


# Addresses people write from

_email_domains = query(
    select(email_domain_blocks).where(any_of(email_domain_blocks.c.domain, "domains")), EmailDomainBlock
)
_canonical = query(
    select(canonical_email_blocks).where(canonical_email_blocks.c.hash == bindparam("hash")), CanonicalEmailBlock
)
_any_email = [query(select(table.c.id).limit(1), int) for table in (email_domain_blocks, canonical_email_blocks)]
_new_try = upsert(email_domain_tries).values(
    domain=bindparam("domain"), day=bindparam("day"), client_ip=bindparam("client_ip"), uses=1
)
_try = command(
    _new_try.on_conflict_do_update(
        index_elements=[email_domain_tries.c.domain, email_domain_tries.c.day, email_domain_tries.c.client_ip],
        set_={"uses": email_domain_tries.c.uses + 1},
    ).inline()
)
_tries = query(
    select(email_domain_tries.c.domain, email_domain_tries.c.day, func.count(), func.sum(email_domain_tries.c.uses))
    .where(and_(any_of(email_domain_tries.c.domain, "domains"), email_domain_tries.c.day >= bindparam("since")))
    .group_by(email_domain_tries.c.domain, email_domain_tries.c.day),
    tuple,
)
_forget_tries = command(delete(email_domain_tries).where(email_domain_tries.c.day < bindparam("before")))
_live_ips = query(
    select(ip_blocks).where(or_(ip_blocks.c.expires_at.is_(None), ip_blocks.c.expires_at > _now)), IPBlock
)
_forget_ips = command(delete(ip_blocks).where(ip_blocks.c.expires_at <= _now))


async def email_domains_among(db: Session, domains: Sequence[str]) -> list[EmailDomainBlock]:
    return await db.all(_email_domains, domains=list(domains))


async def find_canonical(db: Session, hash: str) -> CanonicalEmailBlock | None:
    return await db.one(_canonical, hash=hash)


async def blocks_any_email(db: Session) -> bool:
    return any([await db.one(statement) is not None for statement in _any_email])


async def note_try(db: Session, domain: str, day: str, client_ip: str) -> None:
    await db.run(_try, domain=domain, day=day, client_ip=client_ip)


async def tries_of(db: Session, domains: Sequence[str], since: str) -> dict[tuple[str, str], tuple[int, int]]:
    """By domain and day: from how many addresses, and how often."""
    rows = await db.all(_tries, domains=list(domains), since=since)
    return {(domain, day): (people, int(uses)) for domain, day, people, uses in rows}


async def live_ip_blocks(db: Session, now: datetime) -> list[IPBlock]:
    return await db.all(_live_ips, now=now)


async def forget(db: Session, now: datetime, before: str) -> None:
    await db.run(_forget_tries, before=before)
    await db.run(_forget_ips, now=now)
