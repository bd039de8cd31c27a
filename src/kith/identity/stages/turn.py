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

    `code` is the refusal's; the executor fills it in.
    """

    message: str
    reason: str = ""
    code: str = ""


Outcome = Challenge | Passed | Denied
PASSED = Passed()


class Turn(Generic[S]):
    """A stage in a run, with a transaction of its own: what it writes and the new plan are committed together.

    Slow work (hashing, requests to other servers) comes before the first write.
    """

    def __init__(self, work: Work, exchange: Exchange, flow: Flow, plan: FlowPlan, held: HeldSession, stage: S) -> None:
        self.work = work
        self.exchange = exchange
        self.flow = flow
        self.plan = plan
        self.held = held
        self.stage = stage
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
        return Turn(self.work, self.exchange, self.flow, self.plan, self.held, stage)

    async def find_stage(self, records: RecordStore[T], stage_uuid: str | None) -> T | None:
        """Another stage that this one names."""
        return await find_by_row(records, self.work, stage_uuid) if stage_uuid is not None else None

    async def pending_user(self) -> User | None:
        user_id = self.context.user_id
        return await users.find_by_id(self.work.db, user_id) if user_id is not None else None

    async def person(self) -> PolicySubject | None:
        return await find_person(self.work, self.context.user_id, self.held.session.user_id)


async def find_person(work: Work, pending_user: int | None, signed_in: int | None) -> PolicySubject | None:
    """Whom policies are asked about: the one who is being identified, else the one who is signed in."""
    user_id = pending_user if pending_user is not None else signed_in
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
