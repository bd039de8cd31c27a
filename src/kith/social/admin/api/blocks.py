"""What is kept out: servers, mail addresses and networks, for the team."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromRequest, Route, delete, get, post, put
from kith.base.work import Work
from kith.social.admission import entities, people, servers, store
from kith.social.admission.emails import hash_of
from kith.social.admission.tables import EmailDomainBlock
from kith.social.pages import answer, list_of
from kith.social.staff import TheStaff, staff

ADMIN = "/api/v1/admin"
LIMIT, MOST, MOST_SERVERS = 100, 200, 500
PERMISSIONS = {
    "domain_block": "manage_federation",
    "domain_allow": "manage_federation",
    "email_domain_block": "manage_blocks",
    "ip_block": "manage_blocks",
    "canonical_email_block": "manage_blocks",
}
READ = {kind: staff(name, scope=f"admin:read:{kind}s") for kind, name in PERMISSIONS.items()}
WRITE = {kind: staff(name, scope=f"admin:write:{kind}s") for kind, name in PERMISSIONS.items()}
SHAPES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "domain_block": entities.render_block,
    "domain_allow": entities.render_allow,
    "ip_block": entities.render_ip,
    "canonical_email_block": entities.render_canonical,
}
_encode = msgspec.json.Encoder().encode


class DomainForm(msgspec.Struct, kw_only=True):
    domain: str


class NewBlock(servers.DomainBlockDraft, kw_only=True):
    domain: str


class EmailDomain(DomainForm, kw_only=True):
    allow_with_approval: bool = False


class BlockedEmailForm(msgspec.Struct, kw_only=True):
    email: str


class EmailOrHash(msgspec.Struct, kw_only=True):
    email: str = ""
    canonical_email_hash: str = ""


async def _shown(work: Work, kind: str, rows: Sequence[Any]) -> list[dict[str, Any]]:
    if kind != "email_domain_block":
        return [SHAPES[kind](row) for row in rows]
    found: Sequence[EmailDomainBlock] = rows
    since = (work.now - timedelta(days=entities.DAYS)).date().isoformat()
    tries = await store.tries_of(work.db, [row.domain for row in found], since)
    return [entities.render_email_domain(row, tries, work.now.date()) for row in found]


def _list(kind: str) -> Route:
    most = MOST_SERVERS if kind.startswith("domain") else MOST

    async def show_all(exchange: Exchange, work: Work) -> Answer:
        cursor = Cursor.read(exchange.query_string, default=LIMIT, most=most, kind=CursorKind.RECORD3)
        rows = await store.page_of(work.db, kind, cursor)
        shown = [_encode(one) for one in await _shown(work, kind, rows)]
        return list_of(exchange, cursor, shown, [row.id for row in rows], kind=CursorKind.RECORD3)

    return get(f"{ADMIN}/{kind}s", guards=[READ[kind]])(show_all)


def _one(kind: str) -> Route:
    async def show(work: Work, id: FromPath[int]) -> dict[str, Any]:
        return (await _shown(work, kind, [await people.find(work, kind, id)]))[0]

    return get(f"{ADMIN}/{kind}s/{{id}}", guards=[READ[kind]])(show)


def _remove(kind: str) -> Route:
    async def remove(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
        await people.remove(work, by, kind, id)
        return {}

    return delete(f"{ADMIN}/{kind}s/{{id}}", guards=[WRITE[kind]])(remove)


@post(f"{ADMIN}/domain_blocks", guards=[WRITE["domain_block"]])
async def block_domain(exchange: Exchange, work: Work, by: TheStaff, new: FromRequest[NewBlock]) -> Answer:
    """Limit or suspend a server and those below it, with all of its accounts that are known here."""
    try:
        made = await servers.block(work, by, new.domain, new)
    except servers.StricterAlready as error:
        told = {"error": str(error), "existing_domain_block": entities.render_block(error.existing)}
        return answer(exchange, _encode(told), status=422)
    return answer(exchange, _encode(entities.render_block(made)))


@put(f"{ADMIN}/domain_blocks/{{id}}", guards=[WRITE["domain_block"]])
async def change_domain_block(
    work: Work, by: TheStaff, draft: FromRequest[servers.DomainBlockDraft], id: FromPath[int]
) -> dict[str, Any]:
    return entities.render_block(await servers.change(work, by, id, draft))


@delete(f"{ADMIN}/domain_blocks/{{id}}", guards=[WRITE["domain_block"]])
async def unblock_domain(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    await servers.unblock(work, by, id)
    return {}


@post(f"{ADMIN}/domain_allows", guards=[WRITE["domain_allow"]])
async def allow_domain(work: Work, by: TheStaff, new: FromRequest[DomainForm]) -> dict[str, Any]:
    return entities.render_allow(await servers.allow(work, by, new.domain))


@delete(f"{ADMIN}/domain_allows/{{id}}", guards=[WRITE["domain_allow"]])
async def disallow_domain(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    await servers.disallow(work, by, id)
    return {}


@post(f"{ADMIN}/email_domain_blocks", guards=[WRITE["email_domain_block"]])
async def block_email_domain(work: Work, by: TheStaff, new: FromRequest[EmailDomain]) -> dict[str, Any]:
    made = await people.block_email_domain(work, by, new.domain, allow_with_approval=new.allow_with_approval)
    return (await _shown(work, "email_domain_block", [made]))[0]


@post(f"{ADMIN}/ip_blocks", guards=[WRITE["ip_block"]])
async def block_ip(work: Work, by: TheStaff, new: FromRequest[people.IPDraft]) -> dict[str, Any]:
    return entities.render_ip(await people.block_ip(work, by, new))


@put(f"{ADMIN}/ip_blocks/{{id}}", guards=[WRITE["ip_block"]])
async def change_ip_block(
    work: Work, by: TheStaff, draft: FromRequest[people.IPDraft], id: FromPath[int]
) -> dict[str, Any]:
    return entities.render_ip(await people.change_ip(work, by, id, draft))


@post(f"{ADMIN}/canonical_email_blocks", guards=[WRITE["canonical_email_block"]])
async def block_email(work: Work, by: TheStaff, new: FromRequest[EmailOrHash]) -> dict[str, Any]:
    made = await people.block_email(work, by, email=new.email, hash=new.canonical_email_hash)
    return entities.render_canonical(made)


@post(f"{ADMIN}/canonical_email_blocks/test", guards=[READ["canonical_email_block"]])
async def test_email(work: Work, asked: FromRequest[BlockedEmailForm]) -> list[dict[str, Any]]:
    """Which blocks an address would meet."""
    found = await store.find_canonical(work.db, hash_of(asked.email))
    return [] if found is None else [entities.render_canonical(found)]


routes = [
    *(_list(kind) for kind in PERMISSIONS),
    *(_one(kind) for kind in PERMISSIONS),
    *(_remove(kind) for kind, name in PERMISSIONS.items() if name == "manage_blocks"),
    block_domain,
    change_domain_block,
    unblock_domain,
    allow_domain,
    disallow_domain,
    block_email_domain,
    block_ip,
    change_ip_block,
    block_email,
    test_email,
]
