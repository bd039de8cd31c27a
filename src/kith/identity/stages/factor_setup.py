"""What the stages that set up a second factor have in common."""

from __future__ import annotations

from typing import Any

from kith.identity.factors import store
from kith.identity.rest.fields import Reference, Text
from kith.identity.stages.turn import Denied, Turn

KINDS = ("otp", "otpstatic", "otptime", "webauthn")

FIELDS = (
    Reference(
        name="configure_flow",
        null=True,
        to="identity_flows.flow_uuid",
        where=(("designation", "stage_setup"),),
        help="The flow in which people set this up themselves.",
    ),
    Text(name="friendly_name", default="", most=255, help="What people see; the stage's name when left empty."),
)
NOBODY = Denied("No user was given.", "no pending user to set up a device for")


async def is_set_up(turn: Turn[Any], kind: str) -> bool:
    """Whether the stage can be skipped. In a set-up flow it never is, as a person can have several factors."""
    if turn.flow.designation == "stage_setup":
        return False
    user_id = turn.context.user_id
    return any(one.kind == kind for one in await store.of_user(turn.work.db, user_id)) if user_id else False


def name_given(answer: dict[str, Any], default: str) -> str:
    given = answer.get("name")
    return given.replace("\0", "").strip()[:150] or default if isinstance(given, str) else default
