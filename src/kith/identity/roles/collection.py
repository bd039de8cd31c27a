"""/rbac/roles/: sets of permissions."""

from __future__ import annotations

from datetime import datetime

from kith.identity.rest import Resource
from kith.identity.rest.record import Record
from kith.identity.roles.tables import FIELDS, roles


class RoleRecord(Record, kw_only=True):
    pk: str
    role_uuid: str
    name: str
    permissions: list[str]
    created: datetime
    last_updated: datetime


RESOURCE = Resource(
    path="/rbac/roles/",
    name="Role",
    record=RoleRecord,
    key="role_uuid",
    table=roles,
    fields=FIELDS,
    exact=("name",),
)
