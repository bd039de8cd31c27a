"""Which flow is used for a designation, and cancelling a run."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import bindparam, delete

from kith.base.clocks import is_recent
from kith.base.db import UID, command
from kith.base.exchange import Exchange
from kith.identity.brands import service as brands
from kith.identity.executor import stored_plans
from kith.identity.expressions import subjects
from kith.identity.flows.plan import find_flow, flow_by_id, flows_for
from kith.identity.policies.engine import evaluate_target
from kith.identity.policies.request import PolicyRequest
from kith.identity.sessions import cookies, store
from kith.identity.sessions.tables import runs

PASSED_FOR = timedelta(minutes=10)
_drop_all = command(delete(runs).where(runs.c.session_uuid == bindparam("session", type_=UID())))


async def find_default(exchange: Exchange, designation: str) -> str | None:
    """The slug of the brand's flow for this, else the first with this designation; its policies must let them pass."""
    work = exchange.work
    session = await cookies.find(exchange)
    person = await subjects.find(work, session.user_id) if session is not None and session.user_id is not None else None
    request = PolicyRequest(person=person, client_ip=exchange.address, is_test=True)
    chosen = (await brands.current(exchange)).flows.get(designation)
    own = await flow_by_id(work, chosen) if chosen is not None else None
    for flow in [*([own] if own is not None else []), *await flows_for(work, designation)]:
        verdict = await evaluate_target(
            work, flow.pbm_uuid, request, "any" if flow.policy_engine_mode == "any" else "all"
        )
        if verdict.passing or verdict.is_unsure:  # one that cannot be asked denies by itself, and opens no other
            return flow.slug
    return None


async def flow_to_pass(exchange: Exchange, purpose: str) -> str | None:
    """The slug of the brand's flow that this visitor must pass first; None if there is none, or they just have."""
    chosen = (await brands.current(exchange)).flows.get(purpose)
    session = await cookies.find(exchange)
    work = exchange.work
    flow = await flow_by_id(work, chosen) if chosen is not None else None
    if flow is None or session is None:
        return None
    stored = await stored_plans.load(work, session.session_uuid, flow.flow_uuid)
    at = await store.run_changed_at(work.db, session.session_uuid, flow.flow_uuid)
    has_ended = stored is not None and stored.plan.over == "ended"
    has_passed = has_ended and at is not None and is_recent(at, work.now, PASSED_FOR)
    return None if has_passed else flow.slug


async def leave(exchange: Exchange, slug: str | None) -> str:
    """Drop the run of one flow, or of all. Returns the page that tells the application about it, or an empty text."""
    session = await cookies.find(exchange)
    if session is None:
        return ""
    work = exchange.work
    if slug is None:
        await work.db.run(_drop_all, session=session.session_uuid)
        return ""
    flow = await find_flow(work, slug)
    if flow is None:
        return ""
    stored = await stored_plans.load(work, session.session_uuid, flow.flow_uuid)
    await store.drop_run(work.db, session.session_uuid, flow.flow_uuid)
    return (stored.plan.context.cancel_url or "") if stored is not None else ""
