"""Expired passwords: whoever signs in with one must choose a new one during the run."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, select

from kith.base.db import any_of, query
from kith.identity.flows.plan import Step, find_flow, steps_of
from kith.identity.policies.bindings import bindings
from kith.identity.policies.family import policies
from kith.identity.policies.kinds import passwordexpiry
from kith.identity.rest.record_store import RecordStore
from kith.identity.stages.turn import Denied, Turn
from kith.identity.users.tables import User

if TYPE_CHECKING:
    from kith.identity.stages.kinds.password import PasswordStage

EXPIRED = "Password has expired."
CHANGE = "Your password has expired. Choose a new one to continue."
SAME = "Choose a password that is different from the old one."
DEFAULT = "default-password-change"
_expiry_policies = RecordStore(passwordexpiry.RESOURCE)
# A binding that has expired counts: what it asked for is not given up by its end.
_bound = query(
    select(policies.c.policy_uuid)
    .join(bindings, bindings.c.policy == policies.c.policy_uuid)
    .where(
        and_(
            policies.c.kind == "passwordexpiry",
            bindings.c.enabled,
            any_of(bindings.c.target, "targets"),
        )
    ),
    str,
)


async def ask(turn: Turn[Any], user: User, stage: PasswordStage) -> Denied | None:
    """Check the age of a right password; if it has expired, add the steps that change it, or deny.

    They are added right before the sign-in, after the second factor: a stolen password must not be enough to set a
    new one.
    """
    here, *rest = turn.plan.steps
    targets = [here.pbm_uuid, *(step.pbm_uuid for step in rest if step.kind == "userlogin")]
    for policy in await turn.work.db.all(_bound, targets=targets):
        record = await _expiry_policies.find(turn.work.db, policy)
        if record is None or passwordexpiry.days_over(record, user, turn.work.now) is None:
            continue
        steps = [] if record.deny_only else await _changing(turn, stage)
        if not steps:
            return Denied(EXPIRED, "password expired")
        place = next((n for n, step in enumerate(rest, 1) if step.kind == "userlogin"), len(turn.plan.steps))
        turn.plan.steps[place:place] = steps
        turn.context.expired_password = _print_of(user)
        return None
    return None


async def _changing(turn: Turn[Any], stage: PasswordStage) -> list[Step]:
    """The form and the write step of the flow for changing passwords, without the step that asks for the old one."""
    flow_uuid = stage.configure_flow
    if flow_uuid is None:
        flow = await find_flow(turn.work, DEFAULT)
        flow_uuid = flow.flow_uuid if flow is not None else None
    steps = await steps_of(turn.work, flow_uuid) if flow_uuid is not None else []
    return [step for step in steps if step.kind in ("prompt", "userwrite")]


def is_asked(turn: Turn[Any]) -> bool:
    return turn.context.expired_password is not None


def must_change(turn: Turn[Any], user: User) -> bool:
    """Whether the expired password is still set; then the run does not sign them in."""
    return turn.context.expired_password == _print_of(user)


def _print_of(user: User) -> str:
    return hashlib.sha256((user.password or "").encode()).hexdigest()
