"""/core/applications/: what people can open, and who may."""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.applications.service import ApplicationClosed
from kith.identity.applications.tables import FIELDS, applications
from kith.identity.flows.resources import bound_policies
from kith.identity.rest import Draft, Resource

RESERVED = frozenset({
    "authorize", "token", "device", "userinfo", "introspect", "revoke", "par", "jwks", "end-session",
})  # fmt: skip


async def check(draft: Draft) -> None:
    slug = draft.values.get("slug")
    if slug is not None and slug.lower() in RESERVED:
        draft.complain("slug", f"The slug '{slug}' is reserved and cannot be used for applications.", "reserved")


async def saved(draft: Draft) -> None:
    before = (draft.before or {}).get("provider")
    if before is not None and draft.sets("provider"):
        draft.work.announce(ApplicationClosed(provider_id=before))


async def removing(work: Work, record: dict[str, Any]) -> None:
    if record["provider"] is not None:
        work.announce(ApplicationClosed(provider_id=record["provider"]))


async def decorate(work: Work, records: list[dict[str, Any]]) -> None:
    for record in records:
        record["launch_url"] = record["meta_launch_url"]
    await bound_policies(work, records)


RESOURCE = Resource(
    path="/core/applications/",
    record="Application",
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
