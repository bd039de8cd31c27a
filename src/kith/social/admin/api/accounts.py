"""Lists of accounts for the team, one account, and somebody's role."""

from __future__ import annotations

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromQuery, FromRequest, get, post
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.admin import listing, roles, store
from kith.social.admin.api.roles import role_number
from kith.social.admin.entities import render_admin
from kith.social.ids import AccountId
from kith.social.pages import answer, list_of
from kith.social.staff import TheStaff, staff

LIMIT, MOST = 100, 200
READ = staff("manage_users", scope="admin:read:accounts")
ROLES = staff("manage_roles", scope="admin:write:accounts")


class Texts(msgspec.Struct, kw_only=True):
    username: str = ""
    display_name: str = ""
    by_domain: str = ""
    email: str = ""
    ip: str = ""


class Flags(Texts, kw_only=True):
    local: bool = False
    remote: bool = False
    active: bool = False
    pending: bool = False
    disabled: bool = False
    silenced: bool = False
    suspended: bool = False
    sensitized: bool = False
    staff: bool = False


class AccountSearchForm(Texts, kw_only=True):
    origin: str = ""
    status: str = ""
    permissions: str = ""
    role_ids: list[str] = []
    invited_by: str = ""


class Given(msgspec.Struct, kw_only=True):
    role_id: str


def _texts(asked: Texts) -> dict[str, str]:
    return {name: getattr(asked, name).strip().replace("\0", "") for name in Texts.__struct_fields__}


async def _page(exchange: Exchange, work: Work, wanted: store.AccountQuery) -> Answer:
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    rows = await store.page_of(work.db, wanted, cursor)
    return list_of(exchange, cursor, await render_admin(work, rows), [row.id for row in rows], kind=CursorKind.RECORD3)


@get("/api/v1/admin/accounts", guards=[READ])
async def show_accounts(exchange: Exchange, work: Work, asked: FromQuery[Flags]) -> Answer:
    flags = [name for name in listing.FLAGS if getattr(asked, name)]
    return await _page(exchange, work, listing.by_flags(flags, **_texts(asked)))


@get("/api/v2/admin/accounts", guards=[READ])
async def show_accounts_v2(exchange: Exchange, work: Work, asked: FromQuery[AccountSearchForm]) -> Answer:
    wanted = await listing.by_words(
        work,
        origin=asked.origin,
        status=asked.status,
        permissions=asked.permissions,
        role_ids=[role_number(id) for id in asked.role_ids],
        invited_by=asked.invited_by,
        **_texts(asked),
    )
    return await _page(exchange, work, wanted)


async def find_account(work: Work, id: AccountId) -> Account:
    found = await accounts.find(work.db, id)
    if found is None or found.deleted_at is not None:
        raise NotFound
    return found


async def show_one(exchange: Exchange, work: Work, id: AccountId) -> Answer:
    [shown] = await render_admin(work, [await find_account(work, id)])
    return answer(exchange, shown)


@get("/api/v1/admin/accounts/{id}", guards=[READ])
async def show_account(exchange: Exchange, work: Work, id: FromPath[AccountId]) -> Answer:
    return await show_one(exchange, work, id)


@post("/api/v1/admin/accounts/{id}/role", guards=[ROLES])
async def give_role(
    exchange: Exchange, work: Work, by: TheStaff, given: FromRequest[Given], id: FromPath[AccountId]
) -> Answer:
    await roles.give(work, by, await find_account(work, id), role_number(given.role_id))
    return await show_one(exchange, work, id)


routes = [show_accounts, show_accounts_v2, show_account, give_role]
