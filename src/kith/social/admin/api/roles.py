"""Roles: which there are, for those who manage them."""

from __future__ import annotations

from typing import Any

from kith.base.routing import FromPath, FromRequest, delete, get, number, post, put
from kith.base.work import Work
from kith.social.admin import roles
from kith.social.roles import store
from kith.social.roles.entities import render_for_staff
from kith.social.roles.tables import EVERYONE
from kith.social.staff import TheStaff, staff

READ = staff("manage_roles", scope="admin:read")
WRITE = staff("manage_roles", scope="admin:write")


def role_number(text: str) -> int:
    """An id; the role that everybody has is below nought."""
    return EVERYONE if text == str(EVERYONE) else number(text)


@get("/api/v1/admin/roles", guards=[READ])
async def show_roles(work: Work) -> list[dict[str, Any]]:
    """Every role there is, the highest first."""
    return [render_for_staff(role) for role in (await store.load(work.db)).listed]


@get("/api/v1/admin/roles/{id}", guards=[READ])
async def show_role(work: Work, id: FromPath[str]) -> dict[str, Any]:
    return render_for_staff(await roles.find(work, role_number(id)))


@post("/api/v1/admin/roles", guards=[WRITE])
async def create_role(work: Work, by: TheStaff, draft: FromRequest[roles.RoleDraft]) -> dict[str, Any]:
    return render_for_staff(await roles.create(work, by, draft))


@put("/api/v1/admin/roles/{id}", guards=[WRITE])
async def change_role(
    work: Work, by: TheStaff, draft: FromRequest[roles.RoleDraft], id: FromPath[str]
) -> dict[str, Any]:
    return render_for_staff(await roles.change(work, by, role_number(id), draft))


@delete("/api/v1/admin/roles/{id}", guards=[WRITE])
async def delete_role(work: Work, by: TheStaff, id: FromPath[str]) -> dict[str, Any]:
    await roles.remove(work, by, role_number(id))
    return {}


routes = [show_roles, show_role, create_role, change_role, delete_role]
