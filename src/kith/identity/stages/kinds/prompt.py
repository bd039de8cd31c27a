"""Asks a person to fill in a form. A prompt stage is a target of policies too: they check the answers."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from kith.base.db import any_of, query
from kith.identity.expressions.asking import helpers_for
from kith.identity.expressions.run import Expressions
from kith.identity.flows.resources import bound_policies, forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.policies.engine import evaluate_policy, evaluate_target, find_kind
from kith.identity.policies.request import PolicyRequest
from kith.identity.rest import Resource
from kith.identity.rest.fields import Reference, References, Told
from kith.identity.signups import service as signups
from kith.identity.signups.blocks import is_blocked
from kith.identity.stages import expired_passwords, password_rules
from kith.identity.stages.prompt_answers import SERVERS_OWN, SHOWN_ONLY, read_answer
from kith.identity.stages.prompts import prompts
from kith.identity.stages.tables import prompt_fields, prompt_stages, validation_policies
from kith.identity.stages.turn import PASSED, Act, Challenge, Outcome, Turn
from kith.identity.users import store as users
from kith.identity.users.names import complain_chosen
from kith.identity.users.passwords import Passwords
from kith.identity.users.reserved import complain_reserved

_IDS = {"type": "array", "items": {"type": "string", "format": "uuid"}, "uniqueItems": True}

FIELDS = (
    Reference(
        name="stage_uuid",
        to="identity_stages.stage_uuid",
        on_delete="CASCADE",
        read_only=True,
        help="What a flow's binding names.",
    ),
    References(name="fields", required=True, to="identity_prompts.prompt_uuid", link=prompt_fields, may_be_empty=False),
    References(
        name="validation_policies",
        to="identity_policies.policy_uuid",
        link=validation_policies,
        help="Policies that must all agree with the answers.",
    ),
    Told(name="policies", form=_IDS),
)

RESOURCE = Resource(
    path="/stages/prompt/stages/",
    record="PromptStage",
    key="pbm_uuid",
    family=STAGES,
    kind="prompt",
    table=prompt_stages,
    fields=FIELDS,
    target=True,
    exact=("name", "stage_uuid"),
    removing=forget_stage,
    decorate=bound_policies,
)


_asked = query(
    select(
        prompts.c.field_key, prompts.c.label, prompts.c.type, prompts.c.required, prompts.c.placeholder,
        prompts.c.initial_value, prompts.c.order, prompts.c.sub_text, prompts.c.placeholder_expression,
        prompts.c.initial_value_expression,
    )
    .where(any_of(prompts.c.prompt_uuid, "ids"))
    .order_by(prompts.c.order, prompts.c.field_key),
    tuple,
)  # fmt: skip
_NAMES = (
    "field_key", "label", "type", "required", "placeholder", "initial_value", "order", "sub_text",
    "placeholder_expression", "initial_value_expression",
)  # fmt: skip


async def show(turn: Turn) -> Outcome:
    return Challenge("prompt", {"fields": await _questions(turn)})


async def _notices(turn: Turn) -> list[dict[str, Any]]:
    """What must be said before the first question."""
    user = await turn.pending_user() if expired_passwords.is_asked(turn) else None
    if user is None or not expired_passwords.must_change(turn, user):
        return []
    return [{"field_key": "expired", "label": expired_passwords.CHANGE, "type": "alert_warning", "required": False,
             "placeholder": "", "initial_value": "", "order": -1, "sub_text": "", "choices": None}]  # fmt: skip


async def _questions(turn: Turn) -> list[dict[str, Any]]:
    rows = await turn.work.db.all(_asked, ids=turn.stage["fields"])
    questions = [dict(zip(_NAMES, row, strict=True)) for row in rows]
    if not _asks_reason(turn):
        questions = [one for one in questions if one["field_key"] != signups.REASON]
    for question in questions:
        question["choices"] = None
        for name in ("placeholder", "initial_value"):
            if question.pop(f"{name}_expression"):
                worked_out = await _work_out(turn, question[name])
                if isinstance(worked_out, list):
                    question["choices"], worked_out = [str(one) for one in worked_out], ""
                question[name] = "" if worked_out is None else str(worked_out)
        known = turn.context.get("prompt_data", {}).get(question["field_key"])
        if known is not None and question["type"] not in ("password", *SHOWN_ONLY):
            question["initial_value"] = str(known)
    return [*await _notices(turn), *questions]


def _asks_reason(turn: Turn) -> bool:
    """Why somebody wants to join is asked where staff decide about it."""
    invited = bool(turn.context.get("invitation_in_effect"))
    return turn.flow.designation != "enrollment" or signups.needs_approval(turn.work.settings, invited=invited)


async def _work_out(turn: Turn, body: str) -> Any:
    person = await turn.person()
    outcome = await turn.work.find(Expressions).run(
        body,
        {"user": person.facts if person else None, "prompt_context": turn.context.get("prompt_data", {})},
        helpers_for(turn.work, person),
    )
    return outcome.value if outcome.error is None else None


async def take(turn: Turn, answer: dict[str, Any]) -> Outcome:
    questions = await _questions(turn)
    challenge = Challenge("prompt", {"fields": questions})
    data: dict[str, Any] = {}
    for question in questions:
        if question["type"] in SHOWN_ONLY:
            continue
        read_answer(question, answer.get(question["field_key"]), data, challenge)
    await _check_names(turn, questions, data, challenge)
    await _check_passwords(turn, questions, data, challenge)
    if not challenge.errors:
        await _ask_policies(turn, data, challenge)
    if not challenge.errors:
        await _judge_password(turn, data, challenge)
    if challenge.errors:
        for question in questions:
            if question["type"] not in ("password", *SERVERS_OWN) and question["field_key"] in data:
                question["initial_value"] = str(data[question["field_key"]])
        return challenge
    fixed = turn.context.get("_fixed_data", {})  # what an invitation says is not for whoever was invited to change
    turn.context["prompt_data"] = {**turn.context.get("prompt_data", {}), **data, **fixed}
    return PASSED


async def _check_names(turn: Turn, questions: list[dict[str, Any]], data: dict[str, Any], challenge: Challenge) -> None:
    for question in questions:
        name, kind = data.get(question["field_key"]), question["type"]
        if kind != "username" and question["field_key"] == "username" and name:
            _check_chosen(turn, "username", str(name), challenge)
        if kind not in ("username", "email") or not name:
            continue
        if kind == "username":
            found = await users.find_login(turn.work.db, name)
            if found is not None and found.id != turn.context.get("pending_user"):
                challenge.complain(question["field_key"], "Username is already taken.", "taken")
            if found is None:
                _check_chosen(turn, question["field_key"], name, challenge)
        if turn.flow.designation == "enrollment":
            await _check_new(turn, question["field_key"], kind, name, challenge)


def _check_chosen(turn: Turn, place: str, name: str, challenge: Challenge) -> None:
    fixed = turn.context.get("_fixed_data") or {}
    complaint = complain_chosen(name) if name != fixed.get("username") else None
    if complaint is not None:
        challenge.complain(place, complaint, complaint.code)


async def _check_new(turn: Turn, place: str, kind: str, given: str, challenge: Challenge) -> None:
    """What nobody may sign up with: names that pass for somebody else's, and addresses the operator blocks."""
    if kind == "username" and await complain_reserved(turn.work, given) is not None:
        challenge.complain(place, "This name is reserved.", "reserved")
    if kind == "email" and await is_blocked(turn.work, given):
        challenge.complain(place, "Addresses of this provider are not accepted here.", "blocked")


async def _check_passwords(
    turn: Turn, questions: list[dict[str, Any]], data: dict[str, Any], challenge: Challenge
) -> None:
    given = {data.get(question["field_key"]) for question in questions if question["type"] == "password"}
    if len(given) > 1:
        challenge.complain("non_field_errors", "Passwords don't match.")
    user = await turn.pending_user() if expired_passwords.is_asked(turn) else None
    must = user is not None and len(given) == 1 and expired_passwords.must_change(turn, user)
    if user is not None and must and await turn.work.find(Passwords).check(user.password, str(given.pop())):
        challenge.complain("non_field_errors", expired_passwords.SAME)


async def _ask_policies(turn: Turn, data: dict[str, Any], challenge: Challenge) -> None:
    context = {**turn.context, "prompt_data": data, **data}
    request = PolicyRequest(person=await turn.person(), context=context, client_ip=turn.exchange.address)
    verdicts = [await evaluate_target(turn.work, turn.stage["pbm_uuid"], request, "all")]
    for policy in turn.stage["validation_policies"]:
        kind = await find_kind(turn.work, policy)
        if kind is not None:
            verdicts.append(await evaluate_policy(turn.work, policy, kind, request))
    for verdict in verdicts:
        if not verdict.passing:
            for words in verdict.messages or ["These answers were not accepted."]:
                challenge.complain("non_field_errors", words, "policy")


async def _judge_password(turn: Turn, data: dict[str, Any], challenge: Challenge) -> None:
    """A new password must pass what the server asks of every one, besides what this form asks."""
    password = data.get("password")
    if not isinstance(password, str) or not password:
        return
    asked = frozenset((turn.stage["pbm_uuid"], *turn.stage["validation_policies"]))
    known = {name: value for name, value in data.items() if isinstance(value, str)}
    user_id = turn.context.get("pending_user")
    for words in await password_rules.complain(turn.work, password, user_id, known, asked=asked):
        challenge.complain("non_field_errors", words, "policy")
    if not challenge.errors:
        turn.context["_judged"] = password_rules.print_of(password)


ACT = Act("prompt", show, take)
