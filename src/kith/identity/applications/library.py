"""The applications a person may open, as the start page lists them."""

from __future__ import annotations

import msgspec
from sqlalchemy import exists, select

from kith.base.db import query
from kith.base.work import Work
from kith.identity.applications.tables import applications
from kith.identity.expressions import subjects
from kith.identity.policies.bindings import bindings
from kith.identity.policies.engine import Mode, evaluate_target
from kith.identity.policies.request import PolicyRequest


class LibraryEntry(msgspec.Struct):
    pbm_uuid: str
    name: str
    slug: str
    group: str
    meta_launch_url: str
    meta_icon_url: str
    meta_description: str
    meta_publisher: str
    open_in_new_tab: bool
    policy_engine_mode: str
    is_bound: bool


_is_bound = exists().where(bindings.c.target == applications.c.pbm_uuid)
_shown = query(
    select(*(applications.c[name] for name in LibraryEntry.__struct_fields__[:-1]), _is_bound.label("is_bound"))
    .where(~applications.c.meta_hide)
    .order_by(applications.c.group, applications.c.name, applications.c.pbm_uuid),
    LibraryEntry,
)


async def library(work: Work, user_id: int, address: str) -> list[LibraryEntry]:
    """The applications, by group and name. Policies are evaluated as a test, and only where some are bound."""
    person = await subjects.get(work, user_id)
    request = PolicyRequest(person=person, client_ip=address, is_test=True)
    return [entry for entry in await work.db.all(_shown) if not entry.is_bound or await _may_open(work, entry, request)]


async def _may_open(work: Work, entry: LibraryEntry, request: PolicyRequest) -> bool:
    mode: Mode = "any" if entry.policy_engine_mode == "any" else "all"
    return (await evaluate_target(work, entry.pbm_uuid, request, mode)).passing
