"""Walking a flow: planning it, and taking it a step at a time.

A plan lives in the database beside its session, sealed, so that neither a restart nor another process loses it.
Plans are made anew for every walk: what an administrator changes counts from the next walk on.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from kith.base.errors import Malformed, Problem
from kith.base.exchange import Exchange
from kith.base.work import Work, Works
from kith.identity.executor import stored_plans
from kith.identity.executor.failures import Failed, Scene, deny, fail
from kith.identity.executor.flow_access import WAY_IN, ask_flow, ask_step, level_missing, may_sign_up
from kith.identity.executor.mailed_links import arrive, came_by
from kith.identity.executor.stage_records import STAGE_SHELVES, find_stage
from kith.identity.executor.stored_plans import PLACE
from kith.identity.expressions import people
from kith.identity.flows.plan import Flow, Plan, Step, find_flow, steps_of, told
from kith.identity.impersonation.service import NotAsSomebodyElse, is_closed
from kith.identity.policies.request import PolicyRequest, Verdict
from kith.identity.rest.verbs import render
from kith.identity.sessions import store
from kith.identity.sessions.service import Held
from kith.identity.stages import reauthentication
from kith.identity.stages.collections import ACTS
from kith.identity.stages.reauthentication import SignInAgain
from kith.identity.stages.turn import Challenge, Denied, Outcome, Passed, Turn

__all__ = ["PLACE", "Ended", "Failed", "Result", "Walk", "find_walk", "safe_path"]

MOST_STEPS = 50
MOST_CHARACTERS = 65_536
# What a stage says in place of an error when it has done what it was asked.
_GOOD_NEWS = {"email-sent"}


class Ended(msgspec.Struct, frozen=True):
    """The walk is over, well: where the person goes now."""

    to: str


Result = Challenge | Denied | Ended | Failed


class Walk:
    """One request's part of one walk through one flow."""

    def __init__(self, exchange: Exchange, works: Works, flow: Flow, held: Held, query: dict[str, str]) -> None:
        self._exchange = exchange
        self._works = works
        self._flow = flow
        self._query = query
        self._anew: dict[str, Any] | None = None  # what a walk that starts over still knows
        self._scene = Scene(flow, held.session.user_id)
        self.held = held
        self.signed_out = False
        self.messages: list[dict[str, str]] = []

    def info(self) -> dict[str, Any]:
        flow = self._flow
        return {
            "title": flow.title or flow.name,
            "slug": flow.slug,
            "designation": flow.designation,
            "cancel_url": f"/flows/-/cancel/?flow={flow.slug}",
            "messages": self.messages,
        }

    async def go(self, answer: dict[str, Any] | None = None) -> Result:
        """Take in an answer, if there is one, then go on to the next thing the person must see."""
        _refuse_too_long(answer)
        for _ in range(MOST_STEPS):
            held, signed_out = self.held, self.signed_out
            try:
                outcome = await self._step(answer)
            except Problem:
                raise
            except Exception as error:  # noqa: BLE001 - whatever a stage does wrong is told, and written down
                self.held, self.signed_out = held, signed_out
                return await fail(self._works, self._exchange.origin(), self._scene, error)
            answer = None
            if not isinstance(outcome, Passed):
                return outcome
        async with self._works.begin(self._exchange.origin) as work:
            return await deny(work, self._scene, Denied("This flow never finishes.", "too many steps"))

    async def _step(self, answer: dict[str, Any] | None) -> Result | Passed:
        async with self._works.begin(self._exchange.origin) as work:
            if self._anew is not None:
                context, self._anew = self._anew, None
                return await self._planned(work, context)
            plan = await stored_plans.load(work, self.held.session.session_uuid, self._flow.flow_uuid)
            plan = None if plan is None or plan.over else plan
            self._scene = Scene(self._flow, self.held.session.user_id, plan)
            key = self._query.get("flow_token", "")
            if key and not came_by(plan, key):
                return await self._arrive(work, key)
            if plan is None:
                return await self._planned(work, {})
            if not plan.steps:
                await stored_plans.close(work, self.held.session.session_uuid, plan, "ended")
                return Ended(self._destination(plan))
            step = self._scene.step = plan.steps[0]
            if step.again and not await self._passes_again(work, plan, step):
                plan.steps.pop(0)
                await self._save(work, plan)
                return Passed()
            return await self._act(work, plan, step, answer)

    async def _act(self, work: Work, plan: Plan, step: Step, answer: dict[str, Any] | None) -> Result | Passed:
        act = ACTS.get(step.kind)
        if act is None:
            return await self._deny(work, plan, Denied("This stage cannot be run.", f"no act for {step.kind}"))
        if is_closed(self.held.session, step.kind):
            return await self._deny(work, plan, Denied(NotAsSomebodyElse.message, f"{step.kind} as somebody else"))
        stage = await _stage_of(work, step)
        if stage is None:  # somebody has deleted it meanwhile
            return await self._start_over(work, plan, _kept(plan, WAY_IN))
        turn = Turn(work, self._exchange, self._flow, plan, self.held, stage, find_stage)
        match await reauthentication.ask(turn, step.kind, answer):
            case Challenge() as question:
                await self._save(work, plan)
                return question
            case SignInAgain(to=to):
                return Ended(to)
            case True:
                answer = None
        outcome: Outcome
        taken = answer is not None and answer.get("component", act.kind) == act.kind
        outcome = await act.take(turn, answer) if answer is not None and taken else await act.show(turn)
        self.held, self.signed_out = turn.held, self.signed_out or turn.signed_out
        if taken and step.invalid_response_action != "retry" and (wrong := _wrong_with(outcome)):
            self.messages.extend({"level": "error", "message": words} for words in wrong)
            whole = step.invalid_response_action == "restart_with_context"
            return await self._start_over(work, plan, plan.context if whole else _kept(plan, (*plan.given, *WAY_IN)))
        match outcome:
            case Passed():
                stored_plans.passed(plan)
                if not turn.signed_out:
                    await self._save(work, plan)
                    return outcome
                return Ended(self._destination(plan))
            case Challenge():
                await self._save(work, plan)
                return outcome
            case Denied():
                return await self._deny(work, plan, outcome)

    async def _deny(self, work: Work, plan: Plan, denied: Denied) -> Denied:
        if not self.signed_out:
            await stored_plans.close(work, self.held.session.session_uuid, plan, "denied")
        return await deny(work, self._scene, denied)

    async def _start_over(self, work: Work, plan: Plan, context: dict[str, Any]) -> Passed:
        """The next step plans the flow anew; policies are slow, and this work may have written already."""
        await store.drop_run(work.db, self.held.session.session_uuid, plan.flow_uuid)
        self._anew, self._query = context, {**plan.query, **self._query}
        return Passed()

    # Planning

    async def begin(self, context: dict[str, Any], more: Sequence[Step] = ()) -> Denied | Ended | None:
        """Plan anew with what is known beforehand (the application somebody is on the way to); None: walk on.

        `more` are steps to take after those of the flow.
        """
        async with self._works.begin(self._exchange.origin) as work:
            planned = await self._planned(work, context, more)
            return None if isinstance(planned, Passed) else planned

    async def _arrive(self, work: Work, key: str) -> Denied | Passed:
        plan = await arrive(work, key, self._flow.flow_uuid, self.held.session.user_id)
        if not isinstance(plan, Plan):
            return await deny(work, self._scene, plan)
        await self._save(work, plan)
        return Passed()

    async def _planned(self, work: Work, context: dict[str, Any], more: Sequence[Step] = ()) -> Passed | Denied | Ended:
        flow, user_id = self._flow, self._somebody
        if flow.designation == "authentication" and user_id is not None:
            return Ended(safe_path(self._query.get("next", "")))
        plan = Plan(str(uuid.uuid4()), flow.flow_uuid, [], dict(context), self._query, given=list(context))
        if user_id is not None:
            plan.context.setdefault("pending_user", user_id)
        self._scene = Scene(flow, user_id, plan)
        refused = await self._refused(work, plan)
        if refused is not None:
            return refused
        for step in await steps_of(work, flow.flow_uuid):
            # A stage whose policies are asked when it comes up is not asked about before there is anything to know.
            if step.again or not step.at_plan or (await self._ask(work, plan, step)).passing:
                plan.steps.append(step)
        plan.steps.extend(more)
        await self._save(work, plan)
        return Passed()

    @property
    def _somebody(self) -> int | None:
        """Who walks. Whoever is to sign in again is nobody until they have."""
        signs_in_again = self._flow.designation == "authentication" and self._query.get("again")
        return None if signs_in_again else self.held.session.user_id

    async def _refused(self, work: Work, plan: Plan) -> Denied | Ended | None:
        flow, user_id = self._flow, self._somebody
        person = await people.find(work, user_id) if user_id is not None else None
        missing = level_missing(flow, person, plan.context, signed_in=user_id is not None)
        if missing is not None:
            return await self._not_applicable(work, missing, f"The flow wants {flow.authentication}.")
        if flow.designation == "enrollment" and not may_sign_up(work, self._query):
            return await deny(work, self._scene, Denied("Sign-up is closed.", "registrations are closed"))
        verdict = await ask_flow(work, flow, await self._request(work, plan))
        if verdict.passing:
            return None
        words = " ".join(verdict.messages) or "You may not do this."
        return await self._not_applicable(work, words, "The flow's policies refused.", verdict)

    async def _not_applicable(
        self, work: Work, words: str, reason: str, verdict: Verdict | None = None
    ) -> Denied | Ended:
        action, to = self._flow.denied_action, self._query.get("next", "")
        if action == "continue" or (action == "message_continue" and to):
            return Ended(safe_path(to))
        return await deny(work, self._scene, Denied(words, reason), verdict)

    async def _request(self, work: Work, plan: Plan) -> PolicyRequest:
        turn = Turn(work, self._exchange, self._flow, plan, self.held, {}, find_stage)
        return PolicyRequest(person=await turn.person(), context=told(plan.context), client_ip=self._exchange.address)

    async def _ask(self, work: Work, plan: Plan, step: Step) -> Verdict:
        return await ask_step(work, step, await self._request(work, plan))

    async def _passes_again(self, work: Work, plan: Plan, step: Step) -> bool:
        verdict = await self._ask(work, plan, step)
        if verdict.messages:
            self.messages.extend({"level": "info", "message": words} for words in verdict.messages)
        return verdict.passing

    async def _save(self, work: Work, plan: Plan) -> None:
        await stored_plans.save(work, self.held.session.session_uuid, plan)

    def _destination(self, plan: Plan) -> str:
        """Where a stage or a policy sent them, else where they came from, if that is ours."""
        chosen = plan.context.get("redirect")
        return chosen if isinstance(chosen, str) else safe_path(plan.query.get("next", ""))


async def find_walk(exchange: Exchange, works: Works, slug: str, held: Held, query: dict[str, str]) -> Walk | None:
    async with works.begin(exchange.origin) as work:
        flow = await find_flow(work, slug)
    return None if flow is None else Walk(exchange, works, flow, held, query)


def safe_path(text: str, default: str = "/") -> str:
    """A path on this very server, or `default`: nobody is led elsewhere by a link somebody else made."""
    if not text.startswith("/") or text.startswith(("//", "/\\")) or any(ord(c) < 33 or c == "\\" for c in text):
        return default
    parts = urlsplit(text)
    return text if not parts.scheme and not parts.netloc else default


def _refuse_too_long(answer: dict[str, Any] | None) -> None:
    """Before any stage looks into it. Only a file, which is sent as a `data:` URL, may be longer."""
    for value in (answer or {}).values():
        if isinstance(value, str) and len(value) > MOST_CHARACTERS and not value.startswith("data:"):
            raise Malformed(f"An answer is longer than {MOST_CHARACTERS} characters")


def _wrong_with(outcome: Outcome) -> list[str]:
    """What was wrong with an answer, in words."""
    match outcome:
        case Denied(message=message):
            return [message]
        case Challenge(errors=errors):
            said = [one for complaints in errors.values() for one in complaints if one["code"] not in _GOOD_NEWS]
            return [one["string"] for one in said]
    return []


def _kept(plan: Plan, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: plan.context[name] for name in names if name in plan.context}


async def _stage_of(work: Work, step: Step) -> dict[str, Any] | None:
    shelf = STAGE_SHELVES[step.kind]
    row = await work.db.one(shelf.one_by_row, id=step.stage_uuid)
    if row is None:
        return None
    [record] = await render(shelf, work, [row], sees_secrets=False)
    return record
