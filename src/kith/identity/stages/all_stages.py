"""/stages/all/: stages of every kind, with what they are called and the flows that lead through them."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import select

from kith.base.db import any_of, query
from kith.base.work import Work
from kith.identity.flows.resources import bindings, flows
from kith.identity.flows.stages import FIELDS, StageRecord, stages
from kith.identity.rest import READ, Resource
from kith.identity.rest.fields import Computed, Text

VERBOSE_NAMES = {
    "captcha": "Captcha Stage",
    "consent": "Consent Stage",
    "deny": "Deny Stage",
    "dummy": "Dummy Stage",
    "email": "Email Stage",
    "identification": "Identification Stage",
    "invitation": "Invitation Stage",
    "otp": "OTP Stage",
    "otpstatic": "OTP Static Stage",
    "otptime": "OTP Time Stage",
    "otpvalidate": "OTP Validate Stage",
    "password": "Password Stage",
    "prompt": "Prompt Stage",
    "userdelete": "User Delete Stage",
    "userlogin": "User Login Stage",
    "userlogout": "User Logout Stage",
    "userwrite": "User Write Stage",
    "webauthn": "WebAuthn Stage",
}
_FLOW = {"pk": {"type": "string", "format": "uuid"}} | {
    name: {"type": "string"} for name in ("name", "slug", "title", "designation")
}

_flows_of = query(
    select(bindings.c.stage, flows.c.flow_uuid, flows.c.name, flows.c.slug, flows.c.title, flows.c.designation)
    .join(flows, flows.c.flow_uuid == bindings.c.flow)
    .where(any_of(bindings.c.stage, "ids"))
    .distinct()
    .order_by(flows.c.slug),
    tuple,
)


async def decorate(work: Work, records: list[AnyStage]) -> None:
    used: dict[str, list[dict[str, Any]]] = {}
    for stage, pk, name, slug, title, designation in await work.db.all(
        _flows_of, ids=[record.pk for record in records]
    ):
        flow = {"pk": pk, "name": name, "slug": slug, "title": title or name, "designation": designation}
        used.setdefault(stage, []).append(flow)
    for record in records:
        record.verbose_name = VERBOSE_NAMES[record.kind]
        record.flow_set = used.get(record.pk, [])


class AnyStage(StageRecord, kw_only=True):
    kind: str = msgspec.field(name="__type__")
    verbose_name: str = ""
    flow_set: list[dict[str, Any]] = msgspec.field(default_factory=list)


RESOURCE = Resource(
    path="/stages/all/",
    name="Stage",
    record=AnyStage,
    key="stage_uuid",
    table=stages,
    fields=(
        *FIELDS,
        Text(name="__type__", stored_as="kind", read_only=True),
        Computed(name="verbose_name", form={"type": "string"}),
        Computed(name="flow_set", form={"type": "array", "items": {"type": "object", "properties": _FLOW}}),
    ),
    exact=("name",),
    allow=READ,
    decorate=decorate,
)
