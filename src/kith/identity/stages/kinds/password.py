"""Asks for the password and tries it where it is told to, in that order."""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Resource, kind_table
from kith.identity.rest.fields import Boolean, Choices, Integer, Reference, Told

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
