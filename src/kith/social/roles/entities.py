"""Roles on the wire."""

from __future__ import annotations

from typing import Any

from kith.social.roles.permissions import names_of
from kith.social.roles.store import Roles
from kith.social.roles.tables import Role

COLLECTIONS = 10  # how many somebody may make


def render_role(role: Role) -> dict[str, Any]:
    """Role, as its holder sees it: with all that it permits."""
    return {
        "id": str(role.id),
        "name": role.name,
        "color": role.color,
        "highlighted": role.highlighted,
        "permissions": str(role.all_permissions),
        "collection_limit": COLLECTIONS,
    }


def render_for_staff(role: Role) -> dict[str, Any]:
    return render_role(role) | {
        "position": role.position,
        "permissions": str(role.permissions),
        "permissions_as_keys": names_of(role.permissions),
        "is_shipped": role.is_shipped,
    }


def badges(roles: Roles, base: str, role_id: int | None) -> list[dict[str, str]]:
    """What is shown on an account: its role, where that is to be seen."""
    role = roles.of(base, role_id)
    return [{"id": str(role.id), "name": role.name, "color": role.color}] if role.highlighted else []
