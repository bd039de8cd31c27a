"""What a stage sees when its turn has come, and what it may answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.expressions import people
from kith.identity.expressions.people import Person
from kith.identity.flows.plan import Flow, Plan
from kith.identity.sessions.service import Held
from kith.identity.users import store as users
from kith.identity.users.tables import User


class Challenge(msgspec.Struct):
    """What the person is asked: the stage's name for it, what it shows, and what was wrong with the last answer."""

    component: str
    fields: dict[str, Any] = {}
    errors: dict[str, list[dict[str, str]]] = {}

    def complain(self, field: str, words: str, code: str = "invalid") -> Challenge:
        self.errors.setdefault(field, []).append({"string": str(words), "code": code})
        return self


class Passed(msgspec.Struct, frozen=True):
    """The stage has done its work; the next one comes."""


class Denied(msgspec.Struct, frozen=True):
    """The walk ends here. `message` is for the person, `reason` for whoever runs the server.

    `code` is by which the latter find it; whoever ends the walk fills it in.
    """

    message: str
    reason: str = ""
    code: str = ""


Outcome = Challenge | Passed | Denied
PASSED = Passed()

FindStage = Callable[[Work, str, str], Awaitable[dict[str, Any] | None]]


class Turn:
    """One step of one walk, in a transaction of its own: what it writes and the plan that follows are kept together.

    Slow things (hashing, asking elsewhere) come before the first write.
    """

    def __init__(
        self, work: Work, exchange: Exchange, flow: Flow, plan: Plan, held: Held, stage: dict[str, Any],
        find: FindStage,
    ) -> None:  # fmt: skip
        self.work = work
        self.exchange = exchange
        self.flow = flow
        self.plan = plan
        self.held = held
        self.stage = stage
        self.signed_out = False
        self._find = find

    @property
    def context(self) -> dict[str, Any]:
        return self.plan.context

    async def find_stage(self, kind: str, stage_uuid: str) -> dict[str, Any] | None:
        """Another stage that this one names."""
        return await self._find(self.work, kind, stage_uuid)

    async def pending_user(self) -> User | None:
        user_id = self.context.get("pending_user")
        return await users.find_by_id(self.work.db, user_id) if isinstance(user_id, int) else None

    async def person(self) -> Person | None:
        """Whom policies are asked about: the one who is being identified, else the one who is signed in."""
        user_id = self.context.get("pending_user")
        if not isinstance(user_id, int):
            user_id = self.held.session.user_id
        return await people.find(self.work, user_id) if user_id is not None else None


Show = Callable[[Turn], Awaitable[Outcome]]
Take = Callable[[Turn, dict[str, Any]], Awaitable[Outcome]]


class Act(msgspec.Struct, frozen=True):
    """What a kind of stage does: `show` when it comes up, `take` when the person has answered."""

    kind: str
    show: Show
    take: Take
