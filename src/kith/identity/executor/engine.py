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
import structlog

from kith.base.edge import Exchange
from kith.base.work import Work, Works
from kith.identity.audit import service as audit
from kith.identity.executor.acts import ACTS
from kith.identity.executor.arriving import arrive, came_by
from kith.identity.executor.plan import Flow, Plan, Step, find_flow, steps_of
from kith.identity.executor.shelves import STAGE_SHELVES
from kith.identity.executor.turn import Challenge, Denied, Outcome, Passed, Turn
from kith.identity.expressions import people
from kith.identity.policies.engine import evaluate_target
from kith.identity.policies.request import PolicyRequest, Verdict
from kith.identity.rest.verbs import render
from kith.identity.sealing import Sealer
from kith.identity.sessions import store
from kith.identity.sessions.service import Held

PLACE = "identity_flow_runs.plan"
MOST_STEPS = 50
_log = structlog.get_logger()


class Ended(msgspec.Struct, frozen=True):
    """The walk is over, well: where the person goes now."""

    to: str


Result = Challenge | Denied | Ended


class Walk:
    """One request's part of one walk through one flow."""

    def __init__(self, exchange: Exchange, works: Works, flow: Flow, held: Held, query: dict[str, str]) -> None:
        self._exchange = exchange
        self._works = works
        self._flow = flow
        self._query = query
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
        for _ in range(MOST_STEPS):
            outcome = await self._step(answer)
            answer = None
            if not isinstance(outcome, Passed):
                return outcome
        return Denied("This flow does not come to an end.", "too many steps")

    async def _step(self, answer: dict[str, Any] | None) -> Result | Passed:
        async with self._works.begin(self._exchange.origin) as work:
            plan = await self._load(work)
            key = self._query.get("flow_token", "")
            if key and not came_by(plan, key):
                return await self._arrive(work, key)
            if plan is None:
                planned = await self._plan(work, {})
                return Passed() if isinstance(planned, Plan) else planned
            if not plan.steps:
                await store.drop_run(work.db, self.held.session.session_uuid, plan.flow_uuid)
                return Ended(self._destination(plan))
            step = plan.steps[0]
            if step.again and not await self._passes_again(work, plan, step):
                plan.steps.pop(0)
                await self._save(work, plan)
                return Passed()
            return await self._act(work, plan, step, answer)

    async def _act(self, work: Work, plan: Plan, step: Step, answer: dict[str, Any] | None) -> Result | Passed:
        act = ACTS.get(step.kind)
        if act is None:
            return await self._deny(work, plan, Denied("This stage cannot be run.", f"no act for {step.kind}"))
        turn = Turn(work, self._exchange, self._flow, plan, self.held, await _stage_of(work, step))
        outcome: Outcome
        if answer is None or answer.get("component", act.kind) != act.kind:
            outcome = await act.show(turn)
        else:
            outcome = await act.take(turn, answer)
        self.held, self.signed_out = turn.held, self.signed_out or turn.signed_out
        match outcome:
            case Passed():
                plan.steps.pop(0)
                if not turn.signed_out:
                    await self._save(work, plan)
                    return outcome
                return Ended(self._destination(plan))
            case Challenge():
                if outcome.errors and step.invalid_response_action != "retry":
                    await store.drop_run(work.db, self.held.session.session_uuid, plan.flow_uuid)
                else:
                    await self._save(work, plan)
                return outcome
            case Denied():
                return await self._deny(work, plan, outcome)

    async def _deny(self, work: Work, plan: Plan, denied: Denied) -> Denied:
        await store.drop_run(work.db, self.held.session.session_uuid, plan.flow_uuid)
        user_id = plan.context.get("pending_user")
        await audit.record(
            work, "flow_denied", "flows.executor", user_id=user_id if isinstance(user_id, int) else None,
            context={"flow": self._flow.slug, "reason": denied.reason or denied.message},
        )  # fmt: skip
        return denied

    # Planning

    async def begin(self, context: dict[str, Any], more: Sequence[Step] = ()) -> Denied | Ended | None:
        """Plan anew with what is known beforehand (the application somebody is on the way to); None: walk on.

        `more` are steps to take after those of the flow.
        """
        async with self._works.begin(self._exchange.origin) as work:
            planned = await self._plan(work, context, more)
            return None if isinstance(planned, Plan) else planned

    async def _arrive(self, work: Work, key: str) -> Denied | Passed:
        plan = await arrive(work, key, self._flow.flow_uuid, self.held.session.user_id)
        if not isinstance(plan, Plan):
            return plan
        await self._save(work, plan)
        return Passed()

    async def _plan(self, work: Work, context: dict[str, Any], more: Sequence[Step] = ()) -> Plan | Denied | Ended:
        flow, user_id = self._flow, self.held.session.user_id
        # Whoever is to sign in again is nobody until they have.
        signed_in = user_id is not None and not (flow.designation == "authentication" and self._query.get("again"))
        if flow.designation == "authentication" and signed_in:
            return Ended(safe_path(self._query.get("next", "")))
        refused = await self._refused(work, signed_in=signed_in)
        if refused is not None:
            return refused
        plan = Plan(str(uuid.uuid4()), flow.flow_uuid, [], dict(context), self._query)
        if signed_in:
            plan.context["pending_user"] = user_id
        for step in await steps_of(work, flow.flow_uuid):
            # A stage whose policies are asked when it comes up is not asked about before there is anything to know.
            if step.again or not step.at_plan or (await self._ask(work, plan, step)).passing:
                plan.steps.append(step)
        plan.steps.extend(more)
        await self._save(work, plan)
        return plan

    async def _refused(self, work: Work, *, signed_in: bool) -> Denied | Ended | None:
        flow = self._flow
        wanted = flow.authentication
        person = await people.find(work, self.held.session.user_id) if self.held.session.user_id else None
        if (wanted == "require_authenticated" and not signed_in) or (wanted == "require_unauthenticated" and signed_in):
            return self._not_applicable(["This flow is not for you at this moment."])
        if flow.designation == "enrollment" and not self._may_sign_up(work):
            return Denied("Sign-up is closed.", "registrations are closed")
        if wanted == "require_superuser" and (person is None or not person.facts["is_superuser"]):
            return self._not_applicable(["Only administrators may do this."])
        request = PolicyRequest(person=person, context={}, client_ip=self._exchange.address)
        verdict = await evaluate_target(work, flow.pbm_uuid, request, _mode(flow.policy_engine_mode))
        return None if verdict.passing else self._not_applicable(verdict.messages)

    def _may_sign_up(self, work: Work) -> bool:
        """Closed to everyone but those who bring an invitation, which its stage then looks at."""
        return work.settings.registrations != "closed" or bool(self._query.get("itoken") or self._query.get("token"))

    def _not_applicable(self, messages: list[str]) -> Denied | Ended:
        if self._flow.denied_action == "continue" or (
            self._flow.denied_action == "message_continue" and self._query.get("next")
        ):
            return Ended(safe_path(self._query.get("next", "")))
        return Denied(" ".join(messages) or "You may not do this.", "the flow's policies refused")

    async def _ask(self, work: Work, plan: Plan, step: Step) -> Verdict:
        turn = Turn(work, self._exchange, self._flow, plan, self.held, {})
        request = PolicyRequest(
            person=await turn.person(), context=_told(plan.context), client_ip=self._exchange.address
        )
        return await evaluate_target(work, step.pbm_uuid, request, _mode(step.policy_engine_mode))

    async def _passes_again(self, work: Work, plan: Plan, step: Step) -> bool:
        verdict = await self._ask(work, plan, step)
        if verdict.messages:
            self.messages.extend({"level": "info", "message": words} for words in verdict.messages)
        return verdict.passing

    # Keeping

    async def _load(self, work: Work) -> Plan | None:
        sealed = await store.find_run(work.db, self.held.session.session_uuid, self._flow.flow_uuid)
        if sealed is None:
            return None
        try:
            return msgspec.json.decode(work.find(Sealer).open(sealed, PLACE), type=Plan)
        except (msgspec.DecodeError, ValueError):
            _log.warning("flows.plan_unreadable", flow=self._flow.slug)
            return None

    async def _save(self, work: Work, plan: Plan) -> None:
        sealed = work.find(Sealer).seal(msgspec.json.encode(plan).decode(), PLACE)
        await store.save_run(work.db, plan.run_uuid, self.held.session.session_uuid, plan.flow_uuid, sealed, work.now)

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


def _mode(text: str) -> Any:
    return "any" if text == "any" else "all"


def _told(context: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in context.items() if not name.startswith("_")}


async def _stage_of(work: Work, step: Step) -> dict[str, Any]:
    shelf = STAGE_SHELVES[step.kind]
    row = await work.db.one(shelf.one_by_row, id=step.stage_uuid)
    if row is None:
        return {}
    [record] = await render(shelf, work, [row], sees_secrets=False)
    return record
