from __future__ import annotations

from sqlalchemy import bindparam, select

from kith.base.db import UID, query
from kith.base.work import Work
from kith.identity.flows.resources import flows

_slug = query(select(flows.c.slug).where(flows.c.flow_uuid == bindparam("flow", type_=UID())), str)


async def slug_of(work: Work, flow_uuid: str | None) -> str | None:
    if flow_uuid is None:
        return None
    return await work.db.one(_slug, flow=flow_uuid)
