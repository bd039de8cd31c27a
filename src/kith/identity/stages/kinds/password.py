"""Asks for the password. It takes the same time for an unknown user."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, column, select, table

from kith.base.db import UID, query
from kith.base.work import Work
from kith.identity.flows.resources import bindings, flows
from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.reauthentication import is_fresh
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Boolean, Choices, Computed, Integer, Reference
from kith.identity.stages.password_check import try_password
from kith.identity.stages.turn import PASSED, Challenge, Denied, Outcome, StageKind, Turn
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
        on_delete="RESTRICT",
        where=(("designation", "stage_setup"),),
        help="The flow in which people change their password.",
    ),
    Computed(name="change_flow", form={"type": ["string", "null"], "format": "uuid"}, help="As configure_flow."),
    Integer(name="failed_attempts_before_cancel", default=5, least=1),
    Boolean(name="allow_show_password", default=False),
)


class PasswordStage(StageRecord, kw_only=True):
    backends: list[str]
    configure_flow: str | None
    change_flow: str | None = None
    failed_attempts_before_cancel: int
    allow_show_password: bool


async def decorate(_work: Work, records: list[PasswordStage]) -> None:
    for record in records:
        record.change_flow = record.configure_flow


RESOURCE = Resource(
    path="/stages/password/",
    name="PasswordStage",
    record=PasswordStage,
    key="stage_uuid",
    family=STAGES,
    kind="password",
    table=kind_table("identity_stages_password", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "configure_flow", "failed_attempts_before_cancel", "allow_show_password"),
    decorate=decorate,
)


WRONG = "Invalid password"
# The identification stages, whose page knows this one.
_identification = table("identity_stages_identification", column("stage_uuid", UID), column("recovery_flow", UID))
_recovery = query(
    select(flows.c.slug)
    .join(_identification, _identification.c.recovery_flow == flows.c.flow_uuid)
    .join(bindings, bindings.c.stage == _identification.c.stage_uuid)
    .where(bindings.c.flow == bindparam("flow", type_=UID()))
    .limit(1),
    str,
)


async def show(turn: Turn[PasswordStage]) -> Outcome:
    if turn.context.auth_method == "auth_webauthn_pwl":
        return PASSED  # a passkey stands for the password too
    if _is_signed_in(turn):
        user = await turn.pending_user()
        if user is None or user.password is None or _came_by_recovery(turn, user):
            return PASSED  # there is none they could know
        turn.context.pending_user_identifier = user.username
    if turn.context.pending_user_identifier is None and turn.context.user_id is None:
        return Denied("No user was given.", "password stage without a pending user")
    shown = turn.context.pending_user_identifier or ""
    fields: dict[str, Any] = {"pending_user": shown, "allow_show_password": turn.stage.allow_show_password}
    recovery = await turn.work.db.one(_recovery, flow=turn.flow.flow_uuid)
    return Challenge("password", fields | ({"recovery_url": f"/flows/{recovery}/"} if recovery is not None else {}))


def _is_signed_in(turn: Turn[PasswordStage]) -> bool:
    """Whether the person is signed in already and is asked for the password again."""
    user_id = turn.held.session.user_id
    return user_id is not None and turn.context.user_id == user_id


def _came_by_recovery(turn: Turn[PasswordStage], user: User) -> bool:
    """They signed in by a recovery link recently, and have not set a password since."""
    session, changed_at = turn.held.session, user.password_changed_at
    if session.auth_method != "recovery" or not is_fresh(session, turn.work.now):
        return False
    return changed_at is None or changed_at < session.created_at


async def take(turn: Turn[PasswordStage], answer: dict[str, Any]) -> Outcome:
    challenge = await show(turn)
    if not isinstance(challenge, Challenge):
        return challenge
    given = answer.get("password")
    if not isinstance(given, str) or not given:
        return challenge.complain("password", "This field may not be blank.", "blank")
    user = await turn.pending_user()
    typed = turn.context.pending_user_identifier or (user.username if user is not None else "")
    right = await try_password(turn, user, str(typed), given, turn.stage)
    if isinstance(right, Denied):
        return right
    return PASSED if right else challenge.complain("password", WRONG)


STAGE = StageKind(RESOURCE, show, take)
