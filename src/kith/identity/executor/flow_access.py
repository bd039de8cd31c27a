"""Whether somebody may run a flow at all: the level of authentication it requires, and its policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.flows.plan import Flow, Step
from kith.identity.policies.engine import Mode, evaluate_target
from kith.identity.policies.request import PolicyRequest, PolicyVerdict

# What the context keeps about how the run was entered, even if it starts over.
WAY_IN = ("is_restored", "is_redirected", "outpost", "_link")


# Stages that give something: they are left out where nobody can tell whether they are meant. All others guard, so that
# leaving one of them out would open the way.
GIVING = frozenset({"otp", "otpstatic", "otptime", "webauthn", "userdelete", "userlogin", "userwrite"})


class FlowEntry(msgspec.Struct, frozen=True):
    """How somebody came to a flow."""

    by_link: bool
    by_redirect: bool
    by_outpost: bool

    @classmethod
    def read(cls, context: Mapping[str, Any]) -> FlowEntry:
        """`context` is what a flow knows, by the specification's names."""
        return cls(*(bool(context.get(name)) for name in ("is_restored", "is_redirected", "outpost")))


def level_missing(flow: Flow, person: PolicySubject | None, entry: FlowEntry, *, signed_in: bool) -> str | None:
    """Why the flow's `authentication` setting keeps this visitor out, as a text for them; None if it does not."""
    match flow.authentication:
        case "require_authenticated" if not signed_in:
            return "You cannot use this flow at the moment."
        case "require_unauthenticated" if signed_in:
            return "You cannot use this flow at the moment."
        case "require_superuser" if not signed_in or person is None or not person.is_superuser:
            return "Only administrators may do this."
        case "require_token" if not entry.by_link:
            return "This page can only be opened from a link in an e-mail."
        case "require_redirect" if not entry.by_redirect:
            return "This page can only be reached from another flow."
        case "require_outpost" if not entry.by_outpost:
            return "Only outposts may do this."
    return None


def may_sign_up(work: Work, query: dict[str, str]) -> bool:
    """Whether registration is open, or the visitor brings an invitation, which its stage then checks."""
    return work.settings.registrations != "closed" or bool(query.get("itoken") or query.get("token"))


async def ask_flow(work: Work, flow: Flow, request: PolicyRequest) -> PolicyVerdict:
    return await evaluate_target(work, flow.pbm_uuid, request, _mode(flow.policy_engine_mode))


async def ask_step(work: Work, step: Step, request: PolicyRequest) -> PolicyVerdict:
    """The verdict about a stage; where the policies cannot be asked, it passes only for stages that guard."""
    request = msgspec.structs.replace(request, stage=step.kind)
    verdict = await evaluate_target(work, step.pbm_uuid, request, _mode(step.policy_engine_mode))
    verdict.passing = verdict.passing or (verdict.is_unsure and step.kind not in GIVING)
    return verdict


def _mode(text: str) -> Mode:
    return "any" if text == "any" else "all"
