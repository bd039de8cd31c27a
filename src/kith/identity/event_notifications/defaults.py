"""The rules that Kith ships: administrators learn of wrong configuration and of what fails. Made once, then kept."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, select

from kith.base.db import query
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.event_notifications import rules, transports
from kith.identity.policies import bindings
from kith.identity.policies.family import policies
from kith.identity.policies.kinds import event_matcher
from kith.identity.rest import operations
from kith.identity.rest.record_store import RecordStore

SYSTEM = ApiCaller(id=0, username="kith", role="owner", permissions=None, way="system")
_RULES, _TRANSPORTS = RecordStore(rules.RESOURCE), RecordStore(transports.RESOURCE)
_MATCHERS, _BINDINGS = RecordStore(event_matcher.RESOURCE), RecordStore(bindings.RESOURCE)

TRANSPORTS: tuple[dict[str, Any], ...] = (
    {"name": "default-local-transport", "mode": "local"},
    {"name": "default-email-transport", "mode": "email"},
)
# The rule's name and severity, and the actions it tells of.
RULES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("default-notify-configuration-error", "alert", ("configuration_error",)),
    (
        "default-notify-exception",
        "alert",
        ("policy_exception", "property_mapping_exception", "system_exception", "system_task_exception"),
    ),
)

_rule_named = query(select(rules.rules.c.pbm_uuid).where(rules.rules.c.name == bindparam("name")), str)
_transport_named = query(
    select(transports.transports.c.uuid).where(transports.transports.c.name == bindparam("name")), str
)
_policy_named = query(select(policies.c.policy_uuid).where(policies.c.name == bindparam("name")), str)


async def ensure(work: Work) -> int:
    """Make the missing rules with what belongs to them; returns how many."""
    await work.db.begin()
    missing = [rule for rule in RULES if await work.db.one(_rule_named, name=rule[0]) is None]
    ways = [await _transport(work, fields) for fields in TRANSPORTS] if missing else []
    for name, severity, actions in missing:
        body = {"name": name, "severity": severity, "transports": ways, "destination_administrators": True}
        rule = await operations.create(_RULES, work, SYSTEM, body)
        for order, action in enumerate(actions):
            place = {"policy": await _matcher(work, action), "target": rule.pk, "order": order}
            await operations.create(_BINDINGS, work, SYSTEM, place)
    return len(missing)


async def _transport(work: Work, fields: dict[str, Any]) -> str:
    found = await work.db.one(_transport_named, name=fields["name"])
    return found or str((await operations.create(_TRANSPORTS, work, SYSTEM, fields)).pk)


async def _matcher(work: Work, action: str) -> str:
    name = f"default-match-{action.replace('_', '-')}"
    found = await work.db.one(_policy_named, name=name)
    return found or str((await operations.create(_MATCHERS, work, SYSTEM, {"name": name, "action": action})).pk)
