"""Which roles there are, and who has which: one record for both halves of the server."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import msgspec

from kith.base.errors import Complaint, Forbidden, Invalid, NotFound
from kith.base.work import Work
from kith.identity import for_staff
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountChanged
from kith.social.accounts.tables import Account
from kith.social.roles import store
from kith.social.roles.permissions import ALL, BITS, HARMLESS
from kith.social.roles.tables import EVERYONE, Role, base_for
from kith.social.staff import Staff, as_now, record, refuse_if_above

ADMINISTRATORS = ("administrator", "owner")
LONGEST_NAME = 100
HIGHEST = 1_000_000
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")


class RoleDraft(msgspec.Struct, kw_only=True):
    """What is left out is as it was. Permissions are a number of bits, or their names."""

    name: str | None = None
    color: str | None = None
    position: int | None = None
    permissions: int | None = None
    permissions_as_keys: list[str] | None = None
    highlighted: bool | None = None


async def find(work: Work, role_id: int) -> Role:
    found = (await store.load(work.db)).find(role_id)
    if found is None:
        raise NotFound
    return found


async def named(work: Work, name: str) -> Role:
    """By its id or its name, as somebody types it."""
    known = (await store.load(work.db)).listed
    wanted = [role for role in known if str(role.id) == name or (role.name and role.name.lower() == name.lower())]
    if not wanted:
        raise NotFound(f"there is no role called {name}")
    return wanted[0]


async def create(work: Work, by: Staff, draft: RoleDraft) -> Role:
    by.check("manage_roles")
    permissions = _permissions(draft) or 0
    role = Role(
        id=work.new_id(),
        name=_name(draft.name),
        color=_color(draft.color),
        position=draft.position or 0,
        permissions=permissions,
        highlighted=bool(draft.highlighted),
        base=base_for(permissions),
        is_shipped=False,
        created_at=work.now,
        updated_at=work.now,
    )
    _check_reach(by, role)
    await store.insert(work.db, role)
    await record(work, by, "create_role", role=_told(role))
    return role


async def change(work: Work, by: Staff, role_id: int, draft: RoleDraft) -> Role:
    """Nobody changes their own role, nor one that stands as high or higher, or grants what they lack."""
    by = await _held(work, by)
    before = await find(work, role_id)
    _refuse_if_beyond(by, before)
    changed = _changed(before, draft)
    if changed == before:
        return before
    _check_reach(by, changed)
    values = {name: getattr(changed, name) for name in RoleDraft.__struct_fields__ if name != "permissions_as_keys"}
    await store.change(work.db, role_id, values | {"base": changed.base, "updated_at": work.now})
    if changed.base != before.base:
        for holder in await accounts.with_role_id(work.db, role_id):
            await _set_base(work, by, holder, changed.base)
            await accounts.change(work.db, holder.id, {"role": changed.base}, work.now)
    if role_id != EVERYONE:  # which nobody sees on an account
        await accounts.show_anew(work.db, role_id, before.base if before.is_shipped else "")
    await record(work, by, "update_role", role=_told(changed), before=_told(before))
    return msgspec.structs.replace(changed, updated_at=work.now)


def _changed(before: Role, draft: RoleDraft) -> Role:
    permissions = _permissions(draft)
    if before.id == EVERYONE:
        wanted = before.permissions if permissions is None else permissions
        if wanted & ~HARMLESS:
            words = "cannot include permissions that are not safe for the base role"
            raise Invalid(fields={"permissions_as_keys": [Complaint(words)]})
        return msgspec.structs.replace(before, permissions=wanted)
    wanted = before.permissions if permissions is None else permissions
    return msgspec.structs.replace(
        before,
        name=before.name if draft.name is None else _name(draft.name),
        color=before.color if draft.color is None else _color(draft.color),
        position=before.position if draft.position is None else draft.position,
        permissions=wanted,
        highlighted=before.highlighted if draft.highlighted is None else draft.highlighted,
        base=before.base if before.is_shipped else base_for(wanted),
    )


def _name(given: str | None) -> str:
    name = (given or "").strip()
    if not name:
        raise Invalid(fields={"name": [Complaint("can't be blank", "blank")]})
    if len(name) > LONGEST_NAME:
        raise Invalid(fields={"name": [Complaint(f"is too long (maximum is {LONGEST_NAME} characters)", "too_long")]})
    return name


def _color(given: str | None) -> str:
    if given and not _COLOR.fullmatch(given):
        raise Invalid(fields={"color": [Complaint("is invalid")]})
    return (given or "").lower()


def _permissions(draft: RoleDraft) -> int | None:
    if draft.permissions_as_keys is not None:
        return _bits(draft.permissions_as_keys)
    if draft.permissions is None:
        return None
    if not 0 <= draft.permissions <= ALL:
        raise Invalid(fields={"permissions": [Complaint("is invalid")]})
    return draft.permissions


def _bits(names: Sequence[str]) -> int:
    if any(name not in BITS for name in names):
        raise Invalid(fields={"permissions_as_keys": [Complaint("is not included in the list", "inclusion")]})
    return sum(BITS[name] for name in set(names))


async def _held(work: Work, by: Staff) -> Staff:
    """Hold all roles, for whoever may still manage them once nobody else changes any."""
    await for_staff.hold_rights(work.db)
    await work.db.hold("social.roles")
    by = await as_now(work, by)
    by.check("manage_roles")
    return by


def _refuse_if_beyond(by: Staff, role: Role) -> None:
    """A low position does not make a role small: its permissions count as well."""
    if not by.is_above(role.position) or role.permissions & ~by.permissions:
        raise Forbidden


def _check_reach(by: Staff, role: Role) -> None:
    """A role grants nothing that whoever makes it lacks, and stands below theirs."""
    complaints: dict[str, list[str]] = {}
    if not -1 <= role.position <= HIGHEST or (role.position < 0 and role.id != EVERYONE):
        complaints["position"] = [Complaint("is invalid")]
    elif not by.is_above(role.position):
        complaints["position"] = [Complaint("cannot be higher than your current role")]
    if role.permissions & ~by.permissions:
        words = "cannot include permissions your current role does not possess"
        complaints["permissions_as_keys"] = [Complaint(words)]
    if complaints:
        raise Invalid(fields=complaints)


async def remove(work: Work, by: Staff, role_id: int) -> None:
    """Whoever had it is an ordinary member again. Shipped roles stay."""
    by = await _held(work, by)
    role = await find(work, role_id)
    if role.is_shipped:
        raise Forbidden
    _refuse_if_beyond(by, role)
    for holder in await accounts.with_role_id(work.db, role_id):
        await _set_base(work, by, holder, "user")
        await accounts.change(work.db, holder.id, {"role": "user", "role_id": None}, work.now)
    await store.remove(work.db, role_id)
    await record(work, by, "destroy_role", role=_told(role))


async def give(work: Work, by: Staff, account: Account, role_id: int) -> None:
    """An administrator's act. Nobody gives what they lack, nor to themselves, nor to somebody above them."""
    by = await _held(work, by)
    if by.role is not None and by.role.base not in ADMINISTRATORS:
        raise Forbidden
    if account.user_id is None or account.user_id == by.user_id:
        raise Forbidden
    await refuse_if_above(work, by, account)
    role = await find(work, role_id)
    _refuse_if_beyond(by, role)
    await _set_base(work, by, account, role.base)
    own = None if role.is_shipped else role.id
    await accounts.change(work.db, account.id, {"role": role.base, "role_id": own}, work.now)
    await record(work, by, "change_role_user", account, role=_told(role))
    work.announce(AccountChanged(account_id=account.id))


async def _set_base(work: Work, by: Staff, account: Account, base: str) -> None:
    if account.user_id is not None:
        role = cast("for_staff.Role", base)
        await for_staff.set_role(work, account.user_id, role, by=by.user_id, by_name=by.name)


def _told(role: Role) -> dict[str, Any]:
    return {"id": str(role.id), "name": role.name, "position": role.position, "permissions": role.permissions}
