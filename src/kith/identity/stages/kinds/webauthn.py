"""Sets up a security key or a passkey."""

from __future__ import annotations

from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Draft, Resource, kind_table
from kith.identity.rest.fields import Choice, Choices, Integer, read_uuid
from kith.identity.stages import setup

_HOW_MUCH = ("required", "preferred", "discouraged")

FIELDS = (
    *setup.FIELDS,
    Choice(name="user_verification", default="preferred", choices=_HOW_MUCH),
    Choice(name="resident_key_requirement", default="preferred", choices=_HOW_MUCH),
    Choice(name="authenticator_attachment", null=True, choices=("platform", "cross-platform")),
    Choices(name="hints", choices=("security-key", "client-device", "hybrid")),
    Choices(name="device_type_restrictions", help="AAGUIDs; any device when there are none."),
    Integer(name="max_attempts", default=0, least=0, help="0: no limit."),
)


async def check(draft: Draft) -> None:
    if not draft.sets("device_type_restrictions"):
        return
    given = {text: read_uuid(text) for text in draft.values["device_type_restrictions"]}
    if None in given.values():
        draft.complain("device_type_restrictions", "Must be a valid UUID.")
    draft.values["device_type_restrictions"] = [aaguid for aaguid in dict.fromkeys(given.values()) if aaguid]


RESOURCE = Resource(
    path="/stages/webauthn/",
    record="WebAuthnStage",
    key="stage_uuid",
    family=STAGES,
    kind="webauthn",
    table=kind_table("identity_stages_webauthn", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "configure_flow", "user_verification", "resident_key_requirement", "authenticator_attachment"),
    prepare=check,
    removing=forget_stage,
)
