from __future__ import annotations

from sqlalchemy import bindparam, select

from kith.base.db import UID, query
from kith.base.work import Work
from kith.identity.flows.resources import bindings, flows
from kith.identity.stages.kinds.identification import RESOURCE
from kith.identity.stages.turn import Turn

assert RESOURCE.table is not None  # noqa: S101 - an identification stage has fields of its own
_stages = RESOURCE.table
_slug = query(select(flows.c.slug).where(flows.c.flow_uuid == bindparam("flow", type_=UID())), str)
_recovery = query(
    select(flows.c.slug)
    .join(_stages, _stages.c.recovery_flow == flows.c.flow_uuid)
    .join(bindings, bindings.c.stage == _stages.c.stage_uuid)
    .where(bindings.c.flow == bindparam("flow", type_=UID()))
    .limit(1),
    str,
)


async def slug_of(work: Work, flow_uuid: str | None) -> str | None:
    if flow_uuid is None:
        return None
    return await work.db.one(_slug, flow=flow_uuid)


async def recovery_url(turn: Turn) -> str | None:
    """Where whoever has forgotten their password goes: what this flow's identification stage names."""
    slug = await turn.work.db.one(_recovery, flow=turn.flow.flow_uuid)
    return f"/flows/{slug}/" if slug is not None else None
