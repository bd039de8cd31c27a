"""People of the team, with a token for everything they may do."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from kith.identity.users.service import Role
from tests.social.members import SCOPES, Member
from tests.social.tokens import App, new_app
from tests.town import Town

ALL_SCOPES = f"{SCOPES} admin:read admin:write"
_apps: WeakKeyDictionary[Town, App] = WeakKeyDictionary()


async def employ(town: Town, role: Role, name: str | None = None) -> Member:
    """Somebody with a shipped role."""
    person = await town.sign_up(name, role=role)
    if town not in _apps:
        _apps[town] = await new_app(town, ALL_SCOPES)
    member = Member(town, await _apps[town].token_of(person, ALL_SCOPES))
    await member.refreshed()
    return member


async def employ_as(town: Town, owner: Member, position: int, *permissions: str) -> Member:
    """Somebody with a role made for them."""
    sent = {"name": f"role {position}", "position": position, "permissions_as_keys": list(permissions)}
    role = await owner.post("/api/v1/admin/roles", json=sent)
    member = await employ(town, "user")
    await owner.post(f"/api/v1/admin/accounts/{member.id}/role", json={"role_id": role["id"]})
    await member.refreshed()
    return member


async def verdict(member: Member, method: str, path: str, **options: Any) -> int:
    return (await member.call(method, path, **options)).status_code
