"""The enrollment flow's decision about somebody who registers through an app.

Nothing can be shown here. Policies and settings count as on the pages, and what an app cannot ask people for they are
sent to a browser for; other stages are skipped.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import and_, select

from kith.base.db import any_of, query
from kith.base.work import Work
from kith.identity.executor.flow_access import FlowEntry, ask_step, level_missing
from kith.identity.flows.plan import Flow, flows_for, steps_of
from kith.identity.policies.engine import evaluate_target, find_kind, judge
from kith.identity.policies.request import PolicyRequest, PolicyVerdict
from kith.identity.rest.operations import find_by_row
from kith.identity.stages import invitation_checks
from kith.identity.stages.invitation_checks import Invitation
from kith.identity.stages.kinds import invitation as invitation_stage
from kith.identity.stages.kinds import prompt, user_write
from kith.identity.stages.kinds.prompt import PromptStage
from kith.identity.stages.kinds.user_write import UserWriteStage
from kith.identity.stages.prompts import prompts

REFUSED = "was refused"
# What nobody types: a box to tick stands for the consent that apps bring along.
_NOT_ASKED = (
    "alert_danger", "alert_info", "alert_warning", "checkbox", "hidden", "separator", "static",
    "text_area_read_only", "text_read_only",
)  # fmt: skip
IN_BROWSER = "asks for more than an app can: please sign up in a browser"
_asked = query(
    select(prompts.c.field_key).where(
        and_(any_of(prompts.c.prompt_uuid, "ids"), prompts.c.required, prompts.c.type.not_in(_NOT_ASKED))
    ),
    str,
)
_ENTRY = FlowEntry(by_link=False, by_redirect=False, by_outpost=False)
_ABOUT_PASSWORDS = frozenset({"password", "breachcheck"})


class Decision(msgspec.Struct):
    """`refused`: registration is denied. `complaints`: other answers may pass. `write` is the user_write stage."""

    flow: Flow
    invitation: Invitation | None = None
    refused: bool = False
    complaints: dict[str, list[str]] = {}
    write: UserWriteStage | None = None


async def find_invitation(work: Work, code: str) -> tuple[Flow | None, Invitation | None]:
    """The enrollment flow, and the invitation if the code is one for it."""
    found = await flows_for(work, "enrollment")
    for flow in found:
        invitation = await invitation_checks.find(work, code or None, flow.flow_uuid)
        if invitation is not None:
            return flow, invitation
    return (found[0] if found else None), None


async def decide(work: Work, flow: Flow, invitation: Invitation | None, answers: dict[str, Any]) -> Decision:
    """Evaluate all policies of the flow, before anything is written."""
    decision = Decision(flow=flow, invitation=invitation)
    if level_missing(flow, None, _ENTRY, signed_in=False) is not None:
        decision.refused = True
        return decision
    fixed = dict(invitation.fixed_data) if invitation is not None else {}
    data = {**answers, **fixed}
    context: dict[str, Any] = {**data, "prompt_data": data, "invitation_in_effect": invitation is not None}
    hidden = frozenset(one for one in (data.get("password"),) if isinstance(one, str) and one)
    request = PolicyRequest(context=context, client_ip=work.origin.address, hidden=hidden)
    verdict = await _ask(work, flow.pbm_uuid, flow.policy_engine_mode, request)
    if not verdict.passing:
        _complain(decision, "base", verdict)
        return decision
    for step in await steps_of(work, flow.flow_uuid):
        if not (await ask_step(work, step, request)).passing:
            continue  # this stage does not come up for them
        match step.kind:
            case "prompt":
                form = await find_by_row(prompt.STAGE.records, work, step.stage_uuid)
                if form is None:
                    decision.refused = True
                else:
                    await _validate(work, form, request, decision)
            case "invitation":
                stage = await find_by_row(invitation_stage.STAGE.records, work, step.stage_uuid)
                is_open = stage is not None and stage.continue_flow_without_invitation
                decision.refused |= invitation is None and not is_open
            case "deny":
                decision.refused = True
            case "captcha" | "consent":
                _send_to_browser(decision)
            case "userwrite":
                decision.write = await find_by_row(user_write.STAGE.records, work, step.stage_uuid)
    return decision


async def _ask(work: Work, pbm_uuid: str, mode: str, request: PolicyRequest) -> PolicyVerdict:
    return await evaluate_target(work, pbm_uuid, request, "any" if mode == "any" else "all")


def _send_to_browser(decision: Decision) -> None:
    decision.complaints = {**decision.complaints, "base": [IN_BROWSER]}


async def _validate(work: Work, stage: PromptStage, request: PolicyRequest, decision: Decision) -> None:
    asked = await work.db.all(_asked, ids=stage.fields)
    if any(name not in request.context["prompt_data"] for name in asked):
        _send_to_browser(decision)
    verdict = await evaluate_target(work, stage.pbm_uuid, request, "all")
    if not verdict.passing:
        _complain(decision, "base", verdict)
    for policy in stage.validation_policies:
        verdict = await judge(work, policy, request)
        if not verdict.passing:
            is_about_password = await find_kind(work, policy) in _ABOUT_PASSWORDS
            _complain(decision, "password" if is_about_password else "base", verdict)


def _complain(decision: Decision, place: str, verdict: PolicyVerdict) -> None:
    decision.complaints = {
        **decision.complaints,
        place: [*decision.complaints.get(place, []), *(verdict.messages or [REFUSED])],
    }
