"""Accounts as the team sees them, in a fixed number of statements however many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity import for_staff
from kith.identity.for_staff import PersonRecord
from kith.social.accounts import store as accounts
from kith.social.accounts.entities import render
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId, UserId
from kith.social.moments import moment
from kith.social.roles import store as role_store
from kith.social.roles.entities import render_role
from kith.social.roles.store import Roles

Inviters = Mapping[UserId | None, AccountId]
_encode = msgspec.json.Encoder().encode


async def render_admin(work: Work, rows: Sequence[Account], *, with_addresses: bool = True) -> list[bytes]:
    """Admin::Account of each, in the order they came; e-mail and IP addresses may be left out."""
    shown = await render(work, rows)
    people = await for_staff.staff_view.records_of(work.db, [row.user_id for row in rows if row.user_id is not None])
    if not with_addresses:
        people = {id: msgspec.structs.replace(one, email="", addresses=()) for id, one in people.items()}
    roles = await role_store.load(work.db)
    hosts = list({UserId(one.invited_by) for one in people.values() if one.invited_by is not None})
    inviters: Inviters = {one.user_id: one.id for one in await accounts.find_of_users(work.db, hosts)} if hosts else {}
    return [
        _whole(row, one, None if row.user_id is None else people.get(row.user_id), roles, inviters)
        for row, one in zip(rows, shown, strict=True)
    ]


async def render_admin_by_id(
    work: Work, ids: Sequence[AccountId], *, with_addresses: bool = True
) -> dict[AccountId, msgspec.Raw]:
    rows: Mapping[AccountId, Account] = await accounts.find_all(work.db, list(dict.fromkeys(ids)))
    found = list(rows.values())
    shown = await render_admin(work, found, with_addresses=with_addresses)
    return {row.id: msgspec.Raw(one) for row, one in zip(found, shown, strict=True)}


def _whole(row: Account, shown: bytes, person: PersonRecord | None, roles: Roles, inviters: Inviters) -> bytes:
    told: dict[str, Any] = {
        "id": str(row.id),
        "username": row.username,
        "domain": row.domain or None,
        "created_at": moment(row.created_at),
        "sensitized": row.sensitized_at is not None,
        "suspended": row.suspended_at is not None,
        "silenced": row.silenced_at is not None,
        **(_person(row, person, roles, inviters) if person is not None else _NOBODY),
    }
    return b'%b,"account":%b}' % (_encode(told)[:-1], shown)


_NOBODY: dict[str, Any] = {
    "email": None,
    "ip": None,
    "ips": [],
    "locale": None,
    "invite_request": None,
    "role": None,
    "confirmed": None,
    "approved": None,
    "disabled": None,
}


def _person(row: Account, person: PersonRecord, roles: Roles, inviters: Inviters) -> dict[str, Any]:
    addresses = [{"ip": one.ip, "used_at": moment(one.used_at)} for one in person.addresses]
    told: dict[str, Any] = {
        "email": person.email,
        "ip": addresses[0]["ip"] if addresses else None,
        "ips": addresses,
        "locale": person.locale,
        "invite_request": person.reason,
        "role": render_role(roles.of(person.role, row.role_id)),
        "confirmed": person.is_confirmed,
        "approved": person.is_approved,
        "disabled": not person.is_active,
    }
    if person.app_id is not None:
        told["created_by_application_id"] = str(person.app_id)
    host = None if person.invited_by is None else inviters.get(UserId(person.invited_by))
    if host is not None:
        told["invited_by_account_id"] = str(host)
    return told
