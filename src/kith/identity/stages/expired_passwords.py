"""A password that has run its time: whoever signs in with it must choose a new one before they come in."""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import and_, select

from kith.base.db import any_of, query
from kith.identity.flows.plan import Step, find_flow, steps_of
from kith.identity.policies.bindings import bindings
from kith.identity.policies.engine import KINDS
from kith.identity.policies.family import policies
from kith.identity.policies.kinds import passwordexpiry
from kith.identity.stages.turn import Denied, Turn
from kith.identity.users.tables import User

EXPIRED = "Password has expired."
CHANGE = "Your password has expired. Choose a new one to continue."
SAME = "Choose a password that is different from the old one."
DEFAULT = "default-password-change"
_KEY = "_expired"
_bound = query(
    select(policies.c.policy_uuid)
    .join(bindings, bindings.c.policy == policies.c.policy_uuid)
    .where(and_(policies.c.kind == "passwordexpiry", bindings.c.enabled, any_of(bindings.c.target, "targets"))),
    str,
)


async def ask(turn: Turn, user: User, stage: dict[str, Any]) -> Denied | None:
    """Look at the right password's age; one that is too old is changed on the way, or refused.

    The change comes after whatever else is asked, right before the sign-in: a password that somebody else has
    found out is not enough to set another one where there is a second factor.
    """
    here, *rest = turn.plan.steps
    targets = [here.pbm_uuid, *(step.pbm_uuid for step in rest if step.kind == "userlogin")]
    shelf, _ = KINDS["passwordexpiry"]
    for policy in await turn.work.db.all(_bound, targets=targets):
        row = await turn.work.db.one(shelf.one_wire, id=policy)
        if row is None:
            continue
        record = shelf.record(row)
        if passwordexpiry.days_over(record, user, turn.work.now) is None:
            continue
        steps = [] if record["deny_only"] else await _changing(turn, stage)
        if not steps:
            return Denied(EXPIRED, "password expired")
        place = next((n for n, step in enumerate(rest, 1) if step.kind == "userlogin"), len(turn.plan.steps))
        turn.plan.steps[place:place] = steps
        turn.context[_KEY] = _print_of(user)
        return None
    return None


async def _changing(turn: Turn, stage: dict[str, Any]) -> list[Step]:
    """The form and the writing of the flow for it. The password was just asked for, so that is left out."""
    flow_uuid = stage.get("configure_flow")
    if flow_uuid is None:
        flow = await find_flow(turn.work, DEFAULT)
        flow_uuid = flow.flow_uuid if flow is not None else None
    steps = await steps_of(turn.work, flow_uuid) if flow_uuid is not None else []
    return [step for step in steps if step.kind in ("prompt", "userwrite")]


def is_asked(turn: Turn) -> bool:
    return _KEY in turn.context


def must_change(turn: Turn, user: User) -> bool:
    """Whether the old password is still the one: then this walk does not let in."""
    return turn.context.get(_KEY) == _print_of(user)


def _print_of(user: User) -> str:
    return hashlib.sha256((user.password or "").encode()).hexdigest()
