"""Running a flow: making the plan, and going through its steps.

The plan is stored sealed in the database, beside the session, so that a run survives a restart and can go on in
another process. A new plan is made for every run, so a changed flow counts from the next run on.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from kith.base.errors import Conflict, Malformed, Problem
from kith.base.exchange import Exchange
from kith.base.work import Work, Works
from kith.identity.executor import stored_plans
from kith.identity.executor.failures import FlowFailed, RunPlace, deny, fail
from kith.identity.executor.flow_access import WAY_IN, FlowEntry, ask_flow, ask_step, level_missing, may_sign_up
from kith.identity.executor.mailed_links import LINK, arrive, came_by, look_at
from kith.identity.executor.stored_plans import PLACE
from kith.identity.expressions import subjects
from kith.identity.flows.plan import Flow, FlowPlan, Step, find_flow, steps_of
from kith.identity.flows.plan_context import PlanContext
from kith.identity.impersonation.service import NotAsSomebodyElse, is_closed
from kith.identity.policies.request import PolicyRequest, PolicyVerdict
from kith.identity.sessions.service import HeldSession
from kith.identity.stages import proofs, reauthentication
from kith.identity.stages.collections import KINDS
from kith.identity.stages.reauthentication import SignInAgain
from kith.identity.stages.turn import Challenge, Denied, Outcome, Passed, Turn, find_person

__all__ = ["PLACE", "FlowEnded", "FlowFailed", "FlowRun", "Result", "find_run", "safe_path"]

MOST_STEPS = 50
MOST_CHARACTERS = 65_536
READ_BY_FLOWS = frozenset({"next", "flow_token", "itoken", "token", "again", "login_hint"})
MOST_NAMES = 20
MOST_IN_VALUE = 2000
MOST_IN_QUERY = 6000
# Codes of messages that are shown like errors but are none.
_GOOD_NEWS = {"email-sent"}


class FlowEnded(msgspec.Struct, frozen=True):
    """The run is complete; `to` is where the browser goes next."""

    to: str


Result = Challenge | Denied | FlowEnded | FlowFailed


class FlowRun:
    """A run of a flow, for the length of one request."""

    def __init__(self, exchange: Exchange, works: Works, flow: Flow, held: HeldSession, query: dict[str, str]) -> None:
        self._exchange = exchange
        self._works = works
        self._flow = flow
        self._query = query
        self._anew: PlanContext | None = None  # what a run that starts over still knows
        self._was: stored_plans.StoredPlan | None = None  # as the present step has read it
        self._may_act = False
        self._place = RunPlace(flow, held.session.user_id)
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

    async def go(self, answer: dict[str, Any] | None = None, *, may_act: bool) -> Result:
        """Take the answer, if there is one, then run steps until there is something to show.

        Without `may_act` nothing changes but the run itself: a stage that would do something by itself asks first.
        Anybody can send a browser to an address; what acts is a form with its token, or what a source or a client
        has proven.
        """
        _refuse_too_long(answer)
        self._may_act = may_act
        for _ in range(MOST_STEPS):
            held, signed_out, anew, said = self.held, self.signed_out, self._anew, len(self.messages)
            try:
                outcome = await self._step(answer)
            except Problem:
                raise
            except stored_plans.RunChanged:
                self.held, self.signed_out, self._anew, answer = held, signed_out, anew, None
                del self.messages[said:]
                continue
            except Exception as error:  # noqa: BLE001 - whatever a stage does wrong is told, and written down
                self.held, self.signed_out = held, signed_out
                return await fail(self._works, self._exchange.origin(), self._place, error)
            answer = None
            if not isinstance(outcome, Passed):
                return outcome
        async with self._works.begin(self._exchange.origin) as work:
            return await deny(work, self._place, Denied("This flow never finishes.", "too many steps"))

    async def _step(self, answer: dict[str, Any] | None) -> Result | Passed:
        async with self._works.begin(self._exchange.origin) as work:
            if self._anew is not None:
                context, self._anew, self._was = self._anew, None, None
                return await self._planned(work, context)
            self._was = await stored_plans.load(work, self.held.session.session_uuid, self._flow.flow_uuid)
            plan = None if self._was is None or self._was.plan.over else self._was.plan
            self._place = RunPlace(self._flow, self.held.session.user_id, plan)
            key = self._query.get("flow_token", "")
            if key and not came_by(plan, key):
                return await (self._arrive(work, key) if self._may_act else self._ask_to_arrive(work, key))
            if plan is None:
                return await self._planned(work, PlanContext())
            if not plan.steps:
                await stored_plans.close(work, self.held.session.session_uuid, plan, self._was, "ended")
                return FlowEnded(self._destination(plan))
            step = self._place.step = plan.steps[0]
            if step.again and not await self._passes_again(work, plan, step):
                plan.steps.pop(0)
                await self._save(work, plan)
                return Passed()
            if not await proofs.still_count(work, plan.context):
                self.messages.append({"level": "warning", "message": proofs.CHANGED})
                return await self._start_over(work, plan, plan.context.only(("is_redirected", "outpost")))
            return await self._act(work, plan, step, answer)

    async def _act(self, work: Work, plan: FlowPlan, step: Step, answer: dict[str, Any] | None) -> Result | Passed:
        kind = KINDS.get(step.kind)
        if kind is None:
            return await self._deny(work, plan, Denied("This stage cannot be run.", f"no kind {step.kind}"))
        if is_closed(self.held.session, step.kind):
            return await self._deny(work, plan, Denied(NotAsSomebodyElse.message, f"{step.kind} as somebody else"))
        stage = await kind.find(work, step.stage_uuid)
        if stage is None:  # somebody has deleted it meanwhile
            return await self._start_over(work, plan, plan.context.only(WAY_IN))
        turn = Turn(work, self._exchange, self._flow, plan, self.held, stage, may_act=self._may_act)
        match await reauthentication.ask(turn, step.kind, answer):
            case Challenge() as question:
                await self._save(work, plan)
                return question
            case SignInAgain(to=to):
                return FlowEnded(to)
            case True:
                answer = None
        outcome: Outcome
        taken = answer is not None and answer.get("component", kind.kind) == kind.kind
        outcome = await kind.take(turn, answer) if answer is not None and taken else await kind.show(turn)
        self.held, self.signed_out = turn.held, self.signed_out or turn.signed_out
        if taken and step.invalid_response_action != "retry" and (wrong := _wrong_with(outcome)):
            self.messages.extend({"level": "error", "message": words} for words in wrong)
            whole = step.invalid_response_action == "restart_with_context"
            kept = plan.context if whole else plan.context.only((*plan.given, *WAY_IN))
            return await self._start_over(work, plan, kept)
        match outcome:
            case Passed():
                stored_plans.passed(plan)
                if not turn.signed_out:
                    await self._save(work, plan)
                    return outcome
                return FlowEnded(self._destination(plan))
            case Challenge():
                await self._save(work, plan)
                return outcome
            case Denied():
                return await self._deny(work, plan, outcome)

    async def _deny(self, work: Work, plan: FlowPlan, denied: Denied) -> Denied:
        if not self.signed_out:
            await stored_plans.close(work, self.held.session.session_uuid, plan, self._was, "denied")
        return await deny(work, self._place, denied)

    async def _start_over(self, work: Work, plan: FlowPlan, context: PlanContext) -> Passed:
        """Drop the plan; the next step makes a new one in a work of its own, before anything is written."""
        await stored_plans.drop(work, self.held.session.session_uuid, plan.flow_uuid, self._was)
        self._anew, self._query = context, {**plan.query, **self._query}
        return Passed()

    # Planning

    async def begin(self, context: PlanContext, more: Sequence[Step] = ()) -> Denied | FlowEnded | None:
        """Make a new plan with a context that is known beforehand; None means that the run can go on.

        `more` are steps to add after those of the flow.
        """
        for _ in range(MOST_STEPS):
            with contextlib.suppress(stored_plans.RunChanged):  # begun twice at once: the later one counts
                async with self._works.begin(self._exchange.origin) as work:
                    planned = await self._planned(work, context, more)
                return None if isinstance(planned, Passed) else planned
        raise Conflict

    async def _ask_to_arrive(self, work: Work, key: str) -> Denied | Challenge:
        """A mailed link is looked at without being used: mail programs open links to show a preview."""
        found = await look_at(work, key, self._flow.flow_uuid, self.held.session.user_id)
        if isinstance(found, Denied):
            return await deny(work, self._place, found)
        return Challenge(LINK, {"pending_user": found.context.pending_user_identifier or ""})

    async def _arrive(self, work: Work, key: str) -> Denied | Passed:
        plan = await arrive(work, key, self._flow.flow_uuid, self.held.session.user_id)
        if not isinstance(plan, FlowPlan):
            return await deny(work, self._place, plan)
        await self._save(work, plan)
        return Passed()

    async def _planned(
        self, work: Work, context: PlanContext, more: Sequence[Step] = ()
    ) -> Passed | Denied | FlowEnded:
        flow, user_id = self._flow, self._somebody
        if flow.designation == "authentication" and user_id is not None:
            return FlowEnded(safe_path(self._query.get("next", "")))
        known = msgspec.structs.replace(context)
        plan = FlowPlan(str(uuid.uuid4()), flow.flow_uuid, [], known, self._query, given=context.names())
        if user_id is not None and known.pending_user is msgspec.UNSET:
            known.pending_user = user_id
        self._place = RunPlace(flow, user_id, plan)
        denial = await self._find_denial(work, plan)
        if denial is not None:
            return denial
        for step in await steps_of(work, flow.flow_uuid):
            # Policies that are evaluated when the stage comes up are not evaluated here.
            if step.again or not step.at_plan or (await self._ask(work, plan, step)).passing:
                plan.steps.append(step)
        plan.steps.extend(more)
        await self._save(work, plan)
        return Passed()

    @property
    def _somebody(self) -> int | None:
        """The user who runs the flow; None while they are asked to sign in again."""
        signs_in_again = self._flow.designation == "authentication" and self._query.get("again")
        return None if signs_in_again else self.held.session.user_id

    async def _find_denial(self, work: Work, plan: FlowPlan) -> Denied | FlowEnded | None:
        flow, user_id = self._flow, self._somebody
        person = await subjects.find(work, user_id) if user_id is not None else None
        missing = level_missing(flow, person, FlowEntry.read(plan.context.public()), signed_in=user_id is not None)
        if missing is not None:
            return await self._not_applicable(work, missing, f"The flow wants {flow.authentication}.")
        by_source = plan.context.connection is not None  # who set its enrolment flow has opened this door
        if flow.designation == "enrollment" and not by_source and not may_sign_up(work, self._query):
            return await deny(work, self._place, Denied("Sign-up is closed.", "registrations are closed"))
        verdict = await ask_flow(work, flow, await self._request(work, plan))
        if verdict.passing:
            return None
        words = " ".join(verdict.messages) or "You may not do this."
        return await self._not_applicable(work, words, "The flow's policies refused.", verdict)

    async def _not_applicable(
        self, work: Work, words: str, reason: str, verdict: PolicyVerdict | None = None
    ) -> Denied | FlowEnded:
        action, to = self._flow.denied_action, self._query.get("next", "")
        if action == "continue" or (action == "message_continue" and to):
            return FlowEnded(safe_path(to))
        return await deny(work, self._place, Denied(words, reason), verdict)

    async def _request(self, work: Work, plan: FlowPlan) -> PolicyRequest:
        person = await find_person(work, self._flow, plan.context, self.held.session.user_id)
        known = plan.context
        return PolicyRequest(
            person=person, context=known.public(), client_ip=self._exchange.address, hidden=known.typed_passwords
        )

    async def _ask(self, work: Work, plan: FlowPlan, step: Step) -> PolicyVerdict:
        return await ask_step(work, step, await self._request(work, plan))

    async def _passes_again(self, work: Work, plan: FlowPlan, step: Step) -> bool:
        verdict = await self._ask(work, plan, step)
        if verdict.messages:
            self.messages.extend({"level": "info", "message": words} for words in verdict.messages)
        return verdict.passing

    async def _save(self, work: Work, plan: FlowPlan) -> None:
        await proofs.note(work, plan.context)
        await stored_plans.save(work, self.held.session.session_uuid, plan, self._was)

    def _destination(self, plan: FlowPlan) -> str:
        """Where the run leads: what the context names, else the `next` of the page that was opened last."""
        chosen = plan.context.redirect
        return chosen if chosen is not None else safe_path(self._query.get("next") or plan.query.get("next", ""))


async def find_run(
    exchange: Exchange, works: Works, slug: str, held: HeldSession, query: dict[str, str]
) -> FlowRun | None:
    async with works.begin(exchange.origin) as work:
        flow = await find_flow(work, slug)
    return None if flow is None else FlowRun(exchange, works, flow, held, _kept_of(query))


def _kept_of(query: dict[str, str]) -> dict[str, str]:
    """It is kept with the run, so of what strangers send no more is taken than flows need."""
    kept: dict[str, str] = {}
    left = MOST_IN_QUERY
    for name in sorted(query, key=lambda name: name not in READ_BY_FLOWS)[:MOST_NAMES]:
        value = query[name][:MOST_IN_VALUE]
        left -= len(name) + len(value)
        if name != "query" and left >= 0:
            kept[name] = value
    return kept


def safe_path(text: str, default: str = "/") -> str:
    """`text` if it is a path on this server, else `default`. It prevents open redirects."""
    if not text.startswith("/") or text.startswith(("//", "/\\")) or any(ord(c) < 33 or c == "\\" for c in text):
        return default
    parts = urlsplit(text)
    return text if not parts.scheme and not parts.netloc else default


def _refuse_too_long(answer: dict[str, Any] | None) -> None:
    """Checked before any stage reads the answer. Only a file, sent as a `data:` URL, may be longer."""
    for value in (answer or {}).values():
        if isinstance(value, str) and len(value) > MOST_CHARACTERS and not value.startswith("data:"):
            raise Malformed(f"An answer is longer than {MOST_CHARACTERS} characters")


def _wrong_with(outcome: Outcome) -> list[str]:
    """The messages about a wrong answer."""
    match outcome:
        case Denied(message=message):
            return [message]
        case Challenge(errors=errors):
            said = [one for complaints in errors.values() for one in complaints if one["code"] not in _GOOD_NEWS]
            return [one["string"] for one in said]
    return []
