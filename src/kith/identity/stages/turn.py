"""What a stage is given when it comes up, and what it returns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

import msgspec

from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.expressions import subjects
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.flows.plan import Flow, FlowPlan, Step
from kith.identity.flows.plan_context import PlanContext
from kith.identity.flows.stages import StageRecord
from kith.identity.rest import Resource
from kith.identity.rest.operations import find_by_row
from kith.identity.rest.record_store import RecordStore
from kith.identity.sessions.service import HeldSession
from kith.identity.users import store as users
from kith.identity.users.tables import User

S = TypeVar("S", bound=StageRecord)
T = TypeVar("T", bound=StageRecord)


class Challenge(msgspec.Struct):
    """What is shown: the component, its fields, and the errors of the last answer."""

    component: str
    fields: dict[str, Any] = {}
    errors: dict[str, list[dict[str, str]]] = {}

    def complain(self, field: str, words: str, code: str = "invalid") -> Challenge:
        self.errors.setdefault(field, []).append({"string": str(words), "code": code})
        return self


class Passed(msgspec.Struct, frozen=True):
    """The stage is done; the run goes on."""


class Denied(msgspec.Struct, frozen=True):
    """The run ends. `message` is for the person, `reason` for staff.

    `code` is the refusal's; the executor fills it in. `waits`: nothing went wrong, somebody else has to agree first.
    """

    message: str
    reason: str = ""
    code: str = ""
    waits: bool = False


Outcome = Challenge | Passed | Denied
PASSED = Passed()


class Turn(Generic[S]):
    """A stage in a run, with a transaction of its own: what it writes and the new plan are committed together.

    Slow work (hashing, requests to other servers) comes before the first write.

    `may_act` is False where somebody only looks: a stage then shows what it would do and leaves it undone.
    """

    def __init__(
        self,
        work: Work,
        exchange: Exchange,
        flow: Flow,
        plan: FlowPlan,
        held: HeldSession,
        stage: S,
        *,
        may_act: bool = True,
    ) -> None:
        self.work = work
        self.exchange = exchange
        self.flow = flow
        self.plan = plan
        self.held = held
        self.stage = stage
        self.may_act = may_act
        self.signed_out = False

    @property
    def context(self) -> PlanContext:
        return self.plan.context

    @property
    def step(self) -> Step:
        """The stage's place in the flow."""
        return self.plan.steps[0]

    def as_stage(self, stage: T) -> Turn[T]:
        """The same turn for another stage that does this one's work."""
        return Turn(self.work, self.exchange, self.flow, self.plan, self.held, stage, may_act=self.may_act)

    async def find_stage(self, records: RecordStore[T], stage_uuid: str | None) -> T | None:
        """Another stage that this one names."""
        return await find_by_row(records, self.work, stage_uuid) if stage_uuid is not None else None

    @property
    def has_proof(self) -> bool:
        """Whether something in this run has proved who they are, in flows that let people in by that.

        The stage that asks for it may be gone from the flow, or left out by its policies.
        """
        if self.flow.designation not in ("authentication", "recovery"):
            return True
        return is_proven(self.context, self.held.session.user_id)

    async def pending_user(self) -> User | None:
        user_id = self.context.user_id
        return await users.find_by_id(self.work.db, user_id) if user_id is not None else None

    async def proven_person(self) -> PolicySubject | None:
        """Whom forms may speak of: somebody who has proved who they are, or who signs up in this run."""
        signed_in, context = self.held.session.user_id, self.context
        if self.flow.designation != "enrollment" and context.user_id is not None and not is_proven(context, signed_in):
            return None
        return await find_person(self.work, self.flow, context, signed_in)


def is_proven(context: PlanContext, signed_in: int | None) -> bool:
    """Whether the user who runs the flow has proved who they are: by session, in this run, or by a mailed link."""
    is_signed_in = signed_in is not None and signed_in == context.user_id
    return is_signed_in or context.auth_method is not None or bool(context.is_restored)


async def find_person(work: Work, flow: Flow, context: PlanContext, signed_in: int | None) -> PolicySubject | None:
    """Whom policies are asked about: the one who is being identified, else the one who is signed in.

    Whoever makes flows for applications may not see people by that, and what policies say is shown. So in such a flow a
    name that somebody has only typed is nobody's.
    """
    user_id = context.user_id if context.user_id is not None else signed_in
    if user_id != signed_in and flow.designation == "authorization" and not is_proven(context, signed_in):
        return None
    return await subjects.find(work, user_id) if user_id is not None else None


Show = Callable[[Turn[S]], Awaitable[Outcome]]
Take = Callable[[Turn[S], dict[str, Any]], Awaitable[Outcome]]


class StageKind(Generic[S]):
    """A kind of stage: its collection, `show` for when it comes up, `take` for an answer."""

    def __init__(self, resource: Resource[S], show: Show[S], take: Take[S]) -> None:
        self.kind = resource.kind
        self.records = RecordStore(resource)
        self.show = show
        self.take = take

    async def find(self, work: Work, stage_uuid: str) -> S | None:
        """The stage of this kind that a step names."""
        return await find_by_row(self.records, work, stage_uuid)
