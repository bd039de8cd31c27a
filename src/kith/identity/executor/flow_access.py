"""Whether a flow is for somebody: what it wants of whoever enters, before its own policies are asked."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.expressions.people import Person
from kith.identity.flows.plan import Flow, Step
from kith.identity.policies.engine import Mode, evaluate_target
from kith.identity.policies.request import PolicyRequest, Verdict

# What a walk keeps of the way by which it came, even when it starts over.
WAY_IN = ("is_restored", "is_redirected", "outpost", "_link")


def level_missing(flow: Flow, person: Person | None, context: dict[str, Any], *, signed_in: bool) -> str | None:
    """What stands in the way, in words for the person; None where nothing does."""
    match flow.authentication:
        case "require_authenticated" if not signed_in:
            return "You cannot use this flow at the moment."
        case "require_unauthenticated" if signed_in:
            return "You cannot use this flow at the moment."
        case "require_superuser" if not signed_in or person is None or not person.facts["is_superuser"]:
            return "Only administrators may do this."
        case "require_token" if not context.get("is_restored"):
            return "This page can only be opened from a link in an e-mail."
        case "require_redirect" if not context.get("is_redirected"):
            return "This page can only be reached from another flow."
        case "require_outpost" if not context.get("outpost"):
            return "Only outposts may do this."
    return None


def may_sign_up(work: Work, query: dict[str, str]) -> bool:
    """Closed to everyone but those who bring an invitation, which its stage then looks at."""
    return work.settings.registrations != "closed" or bool(query.get("itoken") or query.get("token"))


async def ask_flow(work: Work, flow: Flow, request: PolicyRequest) -> Verdict:
    return await evaluate_target(work, flow.pbm_uuid, request, _mode(flow.policy_engine_mode))


async def ask_step(work: Work, step: Step, request: PolicyRequest) -> Verdict:
    request = msgspec.structs.replace(request, stage=step.kind)
    return await evaluate_target(work, step.pbm_uuid, request, _mode(step.policy_engine_mode))


def _mode(text: str) -> Mode:
    return "any" if text == "any" else "all"
