"""Shows a form. Policies can be bound to a prompt stage: they check the answers."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import select

from kith.base.db import any_of, query
from kith.identity.audit.hidden_attributes import hidden_attributes
from kith.identity.audit.service import MASK
from kith.identity.expressions.helpers import helpers_for
from kith.identity.expressions.run import Expressions
from kith.identity.flows.plan_context import PlanContext
from kith.identity.flows.resources import bound_policies
from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.policies.engine import evaluate_target, judge
from kith.identity.policies.request import PolicyRequest
from kith.identity.rest import Resource
from kith.identity.rest.fields import Computed, Reference, References
from kith.identity.signups import service as signups
from kith.identity.signups.blocks import is_blocked
from kith.identity.stages import expired_passwords, password_rules
from kith.identity.stages.prompt_answers import SERVERS_OWN, SHOWN_ONLY, PromptQuestion, read_answer, typed_text
from kith.identity.stages.prompts import prompts
from kith.identity.stages.tables import prompt_fields, prompt_stages, validation_policies
from kith.identity.stages.turn import PASSED, Challenge, Outcome, StageKind, Turn
from kith.identity.users import former_names
from kith.identity.users import store as users
from kith.identity.users.names import complain_chosen
from kith.identity.users.passwords import Passwords
from kith.identity.users.reserved_names import complain_reserved

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
    Computed(name="policies", form=_IDS),
)


class PromptStage(StageRecord, kw_only=True):
    pbm_uuid: str
    fields: list[str] = msgspec.field(default_factory=list)
    validation_policies: list[str] = msgspec.field(default_factory=list)
    policies: list[str] = msgspec.field(default_factory=list)


RESOURCE = Resource(
    path="/stages/prompt/stages/",
    name="PromptStage",
    record=PromptStage,
    key="pbm_uuid",
    family=STAGES,
    kind="prompt",
    table=prompt_stages,
    fields=FIELDS,
    target=True,
    exact=("name", "stage_uuid"),
    decorate=bound_policies,
)


class _StoredPrompt(msgspec.Struct):
    """As much of a prompt as a question needs; two of its texts may be expressions."""

    field_key: str
    label: str
    type: str
    required: bool
    order: int
    sub_text: str
    placeholder: str
    placeholder_expression: bool
    initial_value: str
    initial_value_expression: bool


_prompts = query(
    select(*(prompts.c[name] for name in _StoredPrompt.__struct_fields__))
    .where(any_of(prompts.c.prompt_uuid, "ids"))
    .order_by(prompts.c.order, prompts.c.field_key),
    _StoredPrompt,
)


async def show(turn: Turn[PromptStage]) -> Outcome:
    return await _challenge(turn, await _questions(turn))


async def _challenge(turn: Turn[PromptStage], questions: list[PromptQuestion]) -> Challenge:
    """With the rules for a new password, where one is asked for."""
    fields: dict[str, Any] = {"fields": questions}
    names = _password_names(questions)
    if names:
        asked = (turn.stage.pbm_uuid, *turn.stage.validation_policies)
        fields["password_rules"] = await password_rules.told(turn.work, asked, names)
    return Challenge("prompt", fields)


async def _notices(turn: Turn[PromptStage]) -> list[PromptQuestion]:
    """Messages before the first question."""
    user = await turn.pending_user() if expired_passwords.is_asked(turn) else None
    if user is None or not expired_passwords.must_change(turn, user):
        return []
    return [PromptQuestion(field_key="expired", label=expired_passwords.CHANGE, type="alert_warning", order=-1)]


async def _questions(turn: Turn[PromptStage]) -> list[PromptQuestion]:
    stored = await turn.work.db.all(_prompts, ids=turn.stage.fields)
    asks_reason = await _asks_reason(turn)
    asked = [one for one in stored if asks_reason or one.field_key != signups.REASON]
    return [*await _notices(turn), *[await _question(turn, one) for one in asked]]


async def _question(turn: Turn[PromptStage], prompt: _StoredPrompt) -> PromptQuestion:
    """A list that an expression returns is the choices."""
    question = PromptQuestion(
        field_key=prompt.field_key,
        label=prompt.label,
        type=prompt.type,
        required=prompt.required,
        placeholder=prompt.placeholder,
        initial_value=prompt.initial_value,
        order=prompt.order,
        sub_text=prompt.sub_text,
    )
    if prompt.placeholder_expression:
        question.placeholder = await _work_out(turn, question, prompt.placeholder)
    if prompt.initial_value_expression:
        question.initial_value = await _work_out(turn, question, prompt.initial_value)
    known = turn.context.answers.get(question.field_key)
    if known is not None and question.type not in ("password", *SHOWN_ONLY):
        question.initial_value = str(known)
    return question


async def _asks_reason(turn: Turn[PromptStage]) -> bool:
    """The reason for joining is asked only if staff approve new accounts."""
    if turn.flow.designation != "enrollment":
        return True
    invited, inviter = bool(turn.context.invitation_in_effect), turn.context.invited_by
    return await signups.needs_approval(turn.work, invited=invited, invited_by=inviter)


async def _work_out(turn: Turn[PromptStage], question: PromptQuestion, body: str) -> str:
    person = await turn.proven_person()
    user = person.facts(await hidden_attributes(turn.work)) if person else None
    outcome = await turn.work.find(Expressions).run(
        body,
        {"user": user, "prompt_context": _without_passwords(turn.context)},
        helpers_for(turn.work, person, hidden=turn.context.typed_passwords),
    )
    value = outcome.value if outcome.error is None else None
    if isinstance(value, list):
        question.choices = [str(one) for one in value]
        return ""
    return "" if value is None else str(value)


def _without_passwords(context: PlanContext) -> dict[str, Any]:
    """No text of a form is made of a password."""
    return {name: MASK if name in (context.password_answers or ()) else one for name, one in context.answers.items()}


def _password_names(questions: list[PromptQuestion]) -> list[str]:
    return [one.field_key for one in questions if one.type == "password"]


async def take(turn: Turn[PromptStage], answer: dict[str, Any]) -> Outcome:
    questions = await _questions(turn)
    challenge = await _challenge(turn, questions)
    data: dict[str, Any] = {}
    for question in questions:
        if question.type in SHOWN_ONLY:
            continue
        read_answer(question, answer.get(question.field_key), data, challenge)
    await _check_names(turn, questions, data, challenge)
    await _check_passwords(turn, questions, data, challenge)
    if not challenge.errors:
        await _ask_policies(turn, questions, data, challenge)
    if not challenge.errors:
        await _judge_password(turn, data, challenge)
    if challenge.errors:
        for question in questions:
            if question.type not in ("password", *SERVERS_OWN):
                question.initial_value = str(data.get(question.field_key, typed_text(question, answer)))
        return challenge
    fixed = turn.context.invitation_data or {}  # what an invitation says is not for whoever was invited to change
    typed = {*(turn.context.password_answers or ()), *_password_names(questions)}
    turn.context.password_answers = sorted(typed) or None
    turn.context.prompt_data = {**turn.context.answers, **data, **fixed}
    return PASSED


async def _check_names(
    turn: Turn[PromptStage], questions: list[PromptQuestion], data: dict[str, Any], challenge: Challenge
) -> None:
    for question in questions:
        name, kind = data.get(question.field_key), question.type
        if kind != "username" and question.field_key == "username" and name:
            _check_chosen(turn, "username", str(name), challenge)
        if kind not in ("username", "email") or not name:
            continue
        if kind == "username":
            found = await users.find_login(turn.work.db, name)
            if found is None:
                _check_chosen(turn, question.field_key, name, challenge)
            is_wrong = question.field_key in challenge.errors
            is_former = found is None and not is_wrong and await _is_former(turn, name)
            if is_former or (found is not None and found.id != turn.context.user_id):
                challenge.complain(question.field_key, "Username is already taken.", "taken")
        if turn.flow.designation == "enrollment" and question.field_key not in challenge.errors:
            await _check_new(turn, question.field_key, kind, name, challenge)


async def _is_former(turn: Turn[PromptStage], name: str) -> bool:
    """Whether somebody else was called so, and no invitation names it; whether its word counts is asked later."""
    fixed = turn.context.invitation_data or {}
    return name != fixed.get("username") and await former_names.is_of_another(turn.work.db, name, turn.context.user_id)


def _check_chosen(turn: Turn[PromptStage], place: str, name: str, challenge: Challenge) -> None:
    fixed = turn.context.invitation_data or {}
    complaint = complain_chosen(name) if name != fixed.get("username") else None
    if complaint is not None:
        challenge.complain(place, complaint, complaint.code)


async def _check_new(turn: Turn[PromptStage], place: str, kind: str, given: str, challenge: Challenge) -> None:
    """Names and addresses with which nobody can sign up: reserved and blocked ones."""
    if kind == "username" and await complain_reserved(turn.work, given) is not None:
        challenge.complain(place, "This name is reserved.", "reserved")
    if kind == "email" and await is_blocked(turn.work, given):
        challenge.complain(place, "Addresses of this provider are not accepted here.", "blocked")


async def _check_passwords(
    turn: Turn[PromptStage], questions: list[PromptQuestion], data: dict[str, Any], challenge: Challenge
) -> None:
    names = _password_names(questions)
    given = {data.get(name) for name in names}
    if len(given) > 1 and not any(name in challenge.errors for name in names):
        challenge.complain("non_field_errors", "Passwords don't match.")
    user = await turn.pending_user() if expired_passwords.is_asked(turn) else None
    must = user is not None and len(given) == 1 and expired_passwords.must_change(turn, user)
    if user is not None and must and await turn.work.find(Passwords).check(user.password, str(given.pop())):
        challenge.complain("non_field_errors", expired_passwords.SAME)


async def _ask_policies(
    turn: Turn[PromptStage], questions: list[PromptQuestion], data: dict[str, Any], challenge: Challenge
) -> None:
    context = {**turn.context.public(), "prompt_data": data, **data}
    typed = {data.get(name) for name in _password_names(questions)} | turn.context.typed_passwords
    request = PolicyRequest(
        person=await turn.proven_person(),
        context=context,
        client_ip=turn.exchange.address,
        hidden=frozenset(one for one in typed if one),
    )
    verdicts = [await evaluate_target(turn.work, turn.stage.pbm_uuid, request, "all")]
    verdicts += [await judge(turn.work, policy, request) for policy in turn.stage.validation_policies]
    for verdict in verdicts:
        if not verdict.passing:
            for words in verdict.messages or ["These answers were not accepted."]:
                challenge.complain("non_field_errors", words, "policy")


async def _judge_password(turn: Turn[PromptStage], data: dict[str, Any], challenge: Challenge) -> None:
    """A new password must pass the server's password policies, besides those of this form."""
    password = data.get("password")
    if not isinstance(password, str) or not password:
        return
    asked = frozenset((turn.stage.pbm_uuid, *turn.stage.validation_policies))
    known = {name: value for name, value in data.items() if isinstance(value, str)}
    user_id = turn.context.user_id
    for words in await password_rules.complain(turn.work, password, user_id, known, asked=asked):
        challenge.complain("non_field_errors", words, "policy")
    if not challenge.errors:
        turn.context.checked_password = password_rules.print_of(password)


STAGE = StageKind(RESOURCE, show, take)
