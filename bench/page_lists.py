"""The lists that those who run a server look at, by their addresses: new ones are added here, and measured."""

from __future__ import annotations

__all__ = ["LISTS"]

_USERS = "/admin/records/core/users"

LISTS = (
    "/admin",
    "/admin/people",
    "/admin/people?order=-seen",
    "/admin/people?search=person09{n:02}",
    "/admin/people?search=person09+number",
    "/admin/people?state=disabled&order=-joined",
    "/admin/people?origin=remote",
    "/admin/people?origin=remote&search=person09{n:02}",
    "/admin/federation",
    "/admin/federation?search=far{n}",
    _USERS,
    f"{_USERS}?offset=50",
    f"{_USERS}?offset=90000",
    f"{_USERS}?ordering=name",
    f"{_USERS}?ordering=-email",
    f"{_USERS}?ordering=-last_login",
    f"{_USERS}?search=person09{{n:02}}",
    f"{_USERS}?search=Number 9{{n:02}}",
    f"{_USERS}?search=nobody-has-this-{{n}}",
    f"{_USERS}?search=09&ordering=-name",
    "/admin/records/core/groups",
    "/admin/records/core/groups?search=team",
    "/admin/records/core/tokens",
    "/admin/records/core/applications",
    "/admin/records/audit/events",
    "/admin/records/audit/events?search=person{n}",
    "/admin/records/flows/instances",
    "/admin/records/rbac/roles",
    "/api/v1/admin/accounts?limit=50",
    "/api/v2/admin/accounts?limit=50&status=active",
    "/api/v2/admin/accounts?limit=50&username=person09{n:02}",
)
