"""Asks for the password of whoever was named, and costs the same for a name that nobody has."""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.confirmation import is_fresh
from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Boolean, Choices, Integer, Reference, Told
from kith.identity.stages.kinds.identification import recovery_url
from kith.identity.stages.password_check import try_password
from kith.identity.stages.turn import PASSED, Act, Challenge, Denied, Outcome, Turn
from kith.identity.users.tables import User

_ALSO = {
    "django.contrib.auth.backends.ModelBackend": "internal",
    "passbook.sources.ldap.auth.LDAPBackend": "ldap",
    "authentik.core.auth.InbuiltBackend": "internal",
    "authentik.core.auth.TokenBackend": "app_password",
    "authentik.sources.ldap.auth.LDAPBackend": "ldap",
}

FIELDS = (
    Choices(
        name="backends", required=True, choices=("internal", "ldap", "app_password"), also=_ALSO, may_be_empty=False
    ),
    Reference(
        name="configure_flow",
        alias="change_flow",
        null=True,
        to="identity_flows.flow_uuid",
        where=(("designation", "stage_setup"),),
        help="The flow in which people change their password.",
    ),
    Told(name="change_flow", form={"type": ["string", "null"], "format": "uuid"}, help="As configure_flow."),
    Integer(name="failed_attempts_before_cancel", default=5, least=1),
    Boolean(name="allow_show_password", default=False),
)


async def decorate(_work: Work, records: list[dict[str, Any]]) -> None:
    for record in records:
        record["change_flow"] = record["configure_flow"]


RESOURCE = Resource(
    path="/stages/password/",
    record="PasswordStage",
    key="stage_uuid",
    family=STAGES,
    kind="password",
    table=kind_table("identity_stages_password", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "configure_flow", "failed_attempts_before_cancel", "allow_show_password"),
    removing=forget_stage,
    decorate=decorate,
)


WRONG = "Invalid password"


async def show(turn: Turn) -> Outcome:
    if turn.context.get("auth_method") == "auth_webauthn_pwl":
        return PASSED  # a passkey stands for the password too
    if _is_signed_in(turn):
        user = await turn.pending_user()
        if user is None or user.password is None or _came_by_recovery(turn, user):
            return PASSED  # there is none they could know
        turn.context["pending_user_identifier"] = user.username
    if "pending_user_identifier" not in turn.context and turn.context.get("pending_user") is None:
        return Denied("No user was given.", "password stage without a pending user")
    shown = turn.context.get("pending_user_identifier", "")
    fields: dict[str, Any] = {"pending_user": shown, "allow_show_password": turn.stage["allow_show_password"]}
    recovery = await recovery_url(turn)
    return Challenge("password", fields | ({"recovery_url": recovery} if recovery else {}))


def _is_signed_in(turn: Turn) -> bool:
    """Whether somebody is asked once more, on the way to something that a stranger at their desk must not do."""
    user_id = turn.held.session.user_id
    return user_id is not None and turn.context.get("pending_user") == user_id


def _came_by_recovery(turn: Turn, user: User) -> bool:
    """They were let in just now because they have forgotten it, and have chosen no other since."""
    session, changed_at = turn.held.session, user.password_changed_at
    if session.auth_method != "recovery" or not is_fresh(session, turn.work.now):
        return False
    return changed_at is None or changed_at < session.created_at


async def take(turn: Turn, answer: dict[str, Any]) -> Outcome:
    challenge = await show(turn)
    if not isinstance(challenge, Challenge):
        return challenge
    given = answer.get("password")
    if not isinstance(given, str) or not given:
        return challenge.complain("password", "This field may not be blank.", "blank")
    user = await turn.pending_user()
    typed = turn.context.get("pending_user_identifier") or (user.username if user is not None else "")
    right = await try_password(turn, user, str(typed), given, turn.stage)
    if isinstance(right, Denied):
        return right
    return PASSED if right else challenge.complain("password", WRONG)


ACT = Act("password", show, take)
