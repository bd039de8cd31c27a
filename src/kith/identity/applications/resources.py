"""/core/applications/: what people can open, and who may."""

from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Integer, String, bindparam, column, select, table

from kith.base.db import any_of, query
from kith.base.work import Work
from kith.identity.applications import entitlements
from kith.identity.applications.service import ApplicationClosed
from kith.identity.applications.tables import FIELDS, applications, backchannel_links
from kith.identity.caller import ApiCaller
from kith.identity.flows.resources import bound_policies
from kith.identity.rest import RecordDraft, Resource
from kith.identity.rest.record import Record

RESERVED = frozenset(
    {
        "authorize",
        "token",
        "device",
        "userinfo",
        "introspect",
        "revoke",
        "par",
        "jwks",
        "end-session",
    }
)


_providers = table("identity_providers", column("id", Integer), column("kind", String))  # a room that knows this one
_kind_of = query(select(_providers.c.kind).where(_providers.c.id == bindparam("provider")), str)
_named_already = query(select(backchannel_links.c.other).where(any_of(backchannel_links.c.other, "ids")), int)


async def check(draft: RecordDraft[ApplicationRecord]) -> None:
    slug = draft.values.get("slug")
    if slug is not None and slug.lower() in RESERVED:
        draft.complain("slug", f"The slug '{slug}' is reserved and cannot be used for applications.", "reserved")
    provider = draft.values.get("provider")
    if provider is not None and await draft.work.db.one(_kind_of, provider=provider) == "scim":
        draft.complain("provider", "Nobody can enter through this: name it in backchannel_providers.")
    added = draft.added("backchannel_providers")
    if added:
        await draft.work.db.begin()
        await draft.work.db.hold("identity.backchannel_providers")
        if await draft.work.db.all(_named_already, ids=added):
            draft.complain("backchannel_providers", "A provider belongs to one application at most.", "unique")


async def saved(draft: RecordDraft[ApplicationRecord]) -> None:
    before = draft.before.provider if draft.before is not None else None
    if before is not None and draft.sets("provider"):
        draft.work.announce(ApplicationClosed(provider_id=before))


async def removing(work: Work, record: ApplicationRecord, _caller: ApiCaller) -> None:
    await entitlements.remove_of(work, record.pbm_uuid)
    if record.provider is not None:
        work.announce(ApplicationClosed(provider_id=record.provider))


async def decorate(work: Work, records: list[ApplicationRecord]) -> None:
    for record in records:
        record.launch_url = record.meta_launch_url
    await bound_policies(work, records)


class ApplicationRecord(Record, kw_only=True):
    pk: str
    pbm_uuid: str
    name: str
    slug: str
    provider: int | None
    backchannel_providers: list[int] = msgspec.field(default_factory=list)
    meta_launch_url: str
    meta_icon_url: str
    meta_description: str
    meta_publisher: str
    group: str
    policy_engine_mode: str
    open_in_new_tab: bool
    meta_hide: bool
    launch_url: str = ""
    policies: list[str] = msgspec.field(default_factory=list)
    created: datetime
    last_updated: datetime


RESOURCE = Resource(
    path="/core/applications/",
    name="Application",
    record=ApplicationRecord,
    key="pbm_uuid",
    table=applications,
    fields=FIELDS,
    target=True,
    search=("name", "slug", "meta_launch_url", "meta_description", "meta_publisher", "group"),
    exact=("name", "slug", "meta_publisher", "group"),
    prepare=check,
    saved=saved,
    removing=removing,
    decorate=decorate,
    decides=True,
)
