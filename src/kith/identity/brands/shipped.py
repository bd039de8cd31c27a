"""The default brand, which every server starts with; it looks as the settings say until somebody changes it."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.brands.resources import RESOURCE, count
from kith.identity.caller import ApiCaller
from kith.identity.rest import operations
from kith.identity.rest.record_store import RecordStore

DOMAIN = "kith-default"
_SYSTEM = ApiCaller(id=0, username="kith", role="owner", permissions=None, way="system")
_STORE = RecordStore(RESOURCE)


async def ensure(work: Work) -> None:
    await work.db.begin()
    if not await count(work):
        await operations.create(_STORE, work, _SYSTEM, {"domain": DOMAIN, "default": True})
