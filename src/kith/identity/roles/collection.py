"""/rbac/roles/: sets of permissions."""

from __future__ import annotations

from datetime import datetime

from kith.base.errors import Forbidden
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.rest import RecordDraft, Resource
from kith.identity.rest.record import Record
from kith.identity.roles.tables import FIELDS, roles


async def check(draft: RecordDraft[RoleRecord]) -> None:
    """Callers cannot put permissions into a role that they do not have."""
    allowed = draft.caller.permissions
    if allowed is not None and not set(draft.now.permissions or ()) <= allowed:
        draft.complain("permissions", "A role cannot grant what you may not do yourself.", "permission_denied")


async def removing(_work: Work, record: RoleRecord, caller: ApiCaller) -> None:
    allowed = caller.permissions
    if allowed is not None and not set(record.permissions) <= allowed:
        raise Forbidden("You do not have permission to perform this action.")


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
    prepare=check,
    removing=removing,
)
