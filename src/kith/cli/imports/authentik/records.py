"""What an authentik server consists of, whether it was read from an export or from its database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from kith.base.import_runs import LeftOutRow
from kith.identity.blueprints.authentik import NAMES

__all__ = ["BASES", "STEPS", "AuthentikServer", "OldRecord", "RecordStep", "in_order", "step_of"]

_SHOWN = ("username", "slug", "name", "identifier", "domain", "field_key", "client_id")


class OldRecord(msgspec.Struct):
    """`model` is authentik's name of its kind; `target` is what policy bindings call it by."""

    model: str
    pk: str
    values: dict[str, Any]
    target: str = ""

    @property
    def label(self) -> str:
        found = next((str(self.values[name]) for name in _SHOWN if self.values.get(name)), self.pk)
        return found[:200]


class AuthentikServer(msgspec.Struct):
    """`install_id` is what people's identifiers are made with, where it is known."""

    name: str
    origin: str
    records: list[OldRecord]
    left: list[LeftOutRow] = []
    install_id: str = ""
    is_database: bool = False


class RecordStep(NamedTuple):
    """Records that are taken together; those of a later step may refer to them."""

    name: str
    models: tuple[str, ...]


# What several kinds have in common has tables too, but no records of its own.
BASES = frozenset({
    "authentik_core.provider", "authentik_core.propertymapping", "authentik_core.source", "authentik_flows.stage",
    "authentik_policies.policy",
})  # fmt: skip


def _named(*areas: str) -> tuple[str, ...]:
    return tuple(old for old, ours in NAMES.items() if ours.startswith(areas) and old not in BASES)


# In the order in which they need each other.
STEPS = (
    RecordStep("certificates", ("authentik_crypto.certificatekeypair",)),
    RecordStep("roles", ("authentik_rbac.role",)),
    RecordStep("groups", ("authentik_core.group",)),
    RecordStep("people", ("authentik_core.user",)),
    RecordStep("mappings", _named("propertymappings.")),
    RecordStep("flows", ("authentik_flows.flow",)),
    RecordStep("policies", tuple(one for one in _named("policies.") if not one.endswith("policybinding"))),
    RecordStep("sources", _named("sources.")),
    RecordStep("prompts", ("authentik_stages_prompt.prompt",)),
    RecordStep(
        "stages",
        tuple(
            sorted(
                (one for one in _named("stages.") if one != "authentik_stages_prompt.prompt"),
                # Those that name other stages come after them.
                key=lambda one: (one.endswith("identificationstage"), one.endswith("authenticatorvalidatestage")),
            )
        ),
    ),
    RecordStep("stage_bindings", ("authentik_flows.flowstagebinding",)),
    RecordStep("providers", _named("providers.")),
    RecordStep("applications", ("authentik_core.application",)),
    RecordStep("entitlements", ("authentik_core.applicationentitlement",)),
    RecordStep("policy_bindings", ("authentik_policies.policybinding",)),
    RecordStep("brands", ("authentik_brands.brand", "authentik_tenants.tenant")),
    RecordStep(
        "authenticators",
        (
            "authentik_stages_authenticator_totp.totpdevice",
            "authentik_stages_authenticator_static.staticdevice",
            "authentik_stages_authenticator_webauthn.webauthndevice",
        ),
    ),
    RecordStep("tokens", ("authentik_core.token",)),
    RecordStep("connections", ("authentik_core.usersourceconnection",)),
    # Last, so that nobody is told of what is taken before.
    RecordStep("notifications", ("authentik_events.notificationtransport", "authentik_events.notificationrule")),
)
_STEP_OF = {model: step.name for step in STEPS for model in step.models}


def step_of(model: str) -> str | None:
    return _STEP_OF.get(model)


def in_order(records: Iterable[OldRecord], step: RecordStep) -> list[OldRecord]:
    """Those of one step, each after what it needs of the same step."""
    places = {model: place for place, model in enumerate(step.models)}
    mine = sorted((one for one in records if one.model in places), key=lambda one: (places[one.model], one.pk))
    return _parents_first(mine) if step.name == "groups" else mine


def _parents_first(groups: list[OldRecord]) -> list[OldRecord]:
    by_pk = {one.pk: one for one in groups}
    placed: dict[str, OldRecord] = {}
    for group in groups:
        above: list[OldRecord] = []
        current: OldRecord | None = group
        while current is not None and current.pk not in placed and current not in above:
            above.append(current)
            current = by_pk.get(str(current.values.get("parent") or ""))
        placed |= {one.pk: one for one in reversed(above)}
    return list(placed.values())
