"""Deletes the account of the person who is signed in, once they have confirmed it."""

from __future__ import annotations

from typing import Any

from kith.identity.audit import service as audit
from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.rest import Resource
from kith.identity.stages.turn import PASSED, Challenge, Denied, Outcome, StageKind, Turn
from kith.identity.users import store as users
from kith.identity.users import team
from kith.identity.users.service import UserDeleted


class UserDeleteStage(StageRecord, kw_only=True):
    """No settings of its own."""


RESOURCE = Resource(
    path="/stages/user_delete/",
    name="UserDeleteStage",
    record=UserDeleteStage,
    key="stage_uuid",
    family=STAGES,
    kind="userdelete",
    table=None,
    fields=(),
    exact=("name",),
)


async def show(turn: Turn[UserDeleteStage]) -> Outcome:
    user = await turn.pending_user()
    if user is None:
        return Denied("No Pending User.", "user_delete without a pending user")
    return Challenge("userdelete", {"pending_user": user.username})


async def take(turn: Turn[UserDeleteStage], _answer: dict[str, Any]) -> Outcome:
    user = await turn.pending_user()
    if user is None or user.id != turn.held.session.user_id:
        return Denied("No Pending User.", "user_delete without a pending user")
    if await team.is_last_superuser(turn.work.db, user.id):
        return Denied("The last administrator cannot be deleted.", "last superuser")
    await audit.record(
        turn.work,
        "model_deleted",
        "stages.user_delete",
        username=user.username,
        context={"model": {"app": "core", "model_name": "user", "pk": user.id, "name": user.username}},
    )
    await users.remove(turn.work.db, user.id)
    turn.work.announce(UserDeleted(user_id=user.id))
    turn.signed_out = True
    return PASSED


STAGE = StageKind(RESOURCE, show, take)
