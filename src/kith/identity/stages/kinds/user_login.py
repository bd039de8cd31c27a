"""Signs in whoever was identified on the way here."""

from __future__ import annotations

from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Boolean, Integer, Offset

FIELDS = (
    Integer(name="session_duration", default=0, least=0, help="Seconds; 0: until the browser is closed."),
    Offset(
        name="remember_me_offset",
        default="seconds=0",
        least=0,
        help="More than nothing: people may choose to stay that much longer.",
    ),
    Boolean(name="terminate_other_sessions", default=False),
    Offset(name="remember_device", default="days=30", least=0, help="How long a device counts as known."),
)

RESOURCE = Resource(
    path="/stages/user_login/",
    record="UserLoginStage",
    key="stage_uuid",
    family=STAGES,
    kind="userlogin",
    table=kind_table("identity_stages_user_login", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "session_duration", "remember_me_offset", "terminate_other_sessions"),
    removing=forget_stage,
)
