"""Going on with a run by a mailed link: the plan is in the link's record, so any browser can open it."""

from __future__ import annotations

import uuid

import msgspec

from kith.base.counted_log import log_counted
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.flows.plan import FlowPlan
from kith.identity.links import service as links
from kith.identity.links.tables import OneTimeLink
from kith.identity.stages.kinds.email import PLACE
from kith.identity.stages.turn import Denied

LINK = "link"  # the component that asks whether to go on
OVER = Denied("This link is not valid any more.", "a link was used before, is too old, or for another flow")


def came_by(plan: FlowPlan | None, key: str) -> bool:
    """Whether this plan was already restored from this link."""
    return plan is not None and plan.context.link_hash == links.hash_key(key)


async def arrive(work: Work, key: str, flow_uuid: str, user_id: int | None) -> FlowPlan | Denied:
    """Use the link up and return its plan. It is refused for somebody else who is signed in."""
    return _plan_of(work, await links.claim(work, key, flow=flow_uuid), flow_uuid, user_id)


async def look_at(work: Work, key: str, flow_uuid: str, user_id: int | None) -> FlowPlan | Denied:
    """The same, without using the link up."""
    return _plan_of(work, await links.find(work, key, flow=flow_uuid), flow_uuid, user_id)


def _plan_of(work: Work, link: OneTimeLink | None, flow_uuid: str, user_id: int | None) -> FlowPlan | Denied:
    if link is None:
        return OVER
    if user_id is not None and link.user_id != user_id:
        return Denied("This link is for somebody else.", "a link of another person")
    try:
        plan = msgspec.json.decode(work.find(Sealer).open(link.plan, PLACE), type=FlowPlan)
    except (msgspec.DecodeError, ValueError):
        log_counted("warning", "flows.link_unreadable", flow=flow_uuid)
        return OVER
    return msgspec.structs.replace(plan, run_uuid=str(uuid.uuid4()))
