"""Deletes the account of whoever is signed in, after they have said so once more."""

from __future__ import annotations

from typing import Any

from kith.identity.audit import service as audit
from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource
from kith.identity.stages.turn import PASSED, Act, Challenge, Denied, Outcome, Turn
from kith.identity.users import store as users
from kith.identity.users.service import UserDeleted

RESOURCE = Resource(
    path="/stages/user_delete/",
    record="UserDeleteStage",
    key="stage_uuid",
    family=STAGES,
    kind="userdelete",
    table=None,
    fields=(),
    exact=("name",),
    removing=forget_stage,
)


async def show(turn: Turn) -> Outcome:
    user = await turn.pending_user()
    if user is None:
        return Denied("No Pending User.", "user_delete without a pending user")
    return Challenge("userdelete", {"pending_user": user.username})


async def take(turn: Turn, _answer: dict[str, Any]) -> Outcome:
    user = await turn.pending_user()
    if user is None or user.id != turn.held.session.user_id:
        return Denied("No Pending User.", "user_delete without a pending user")
    if await users.is_last_superuser(turn.work.db, user.id):
        return Denied("The last administrator cannot be deleted.", "last superuser")
    await audit.record(
        turn.work, "model_deleted", "stages.user_delete", username=user.username,
        context={"model": {"app": "core", "model_name": "user", "pk": user.id, "name": user.username}},
    )  # fmt: skip
    await users.remove(turn.work.db, user.id)
    turn.work.announce(UserDeleted(user_id=user.id))
    turn.signed_out = True
    return PASSED


ACT = Act("userdelete", show, take)
