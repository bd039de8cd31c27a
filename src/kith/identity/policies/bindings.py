"""Which policy, group or person decides about which target, in which order."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Column, UniqueConstraint, bindparam, func, select

from kith.base.db import UID, Instant, any_of, index_of_some, query
from kith.base.work import Work
from kith.identity.groups.tables import groups
from kith.identity.policies.family import policies
from kith.identity.rest.ends import announce_end, complain_end
from kith.identity.rest.fields import Boolean, Computed, Integer, InvalidValue, Moment, Reference, read_uuid
from kith.identity.rest.policy_targets import policy_targets
from kith.identity.rest.record import Record
from kith.identity.rest.record_draft import RecordDraft
from kith.identity.rest.resource import ListFilter, Resource, record_table
from kith.identity.users.tables import users

_ONE = ("policy", "group", "user")

FIELDS = (
    Reference(name="policy", null=True, to=f"{policies.name}.policy_uuid", on_delete="CASCADE"),
    Reference(name="group", null=True, to="identity_groups.group_uuid", on_delete="CASCADE"),
    Reference(name="user", null=True, to="identity_users.id", on_delete="CASCADE", integer=True),
    Reference(name="target", required=True, to=f"{policy_targets.name}.pbm_uuid", on_delete="CASCADE"),
    Boolean(name="negate", default=False, help="Turn the outcome around."),
    Boolean(name="enabled", default=True),
    Integer(name="order", required=True),
    Integer(name="timeout", default=30, least=0, help="Seconds before the check counts as failed."),
    Boolean(name="failure_result", default=False, help="What counts when the check cannot be made."),
    Moment(name="expires", null=True, default=None, help="From then on the binding fails, whatever it is about."),
    Computed(name="expiring", form={"type": "boolean"}),
)


class PolicyBindingRecord(Record, kw_only=True):
    pk: str
    policy_binding_uuid: str
    policy: str | None
    group: str | None
    user: int | None
    target: str
    negate: bool
    enabled: bool
    order: int
    timeout: int
    failure_result: bool
    expires: datetime | None = None
    expiring: bool = False
    created: datetime
    last_updated: datetime


bindings = record_table(
    "identity_policy_bindings",
    Column("policy_binding_uuid", UID, primary_key=True),
    Column("ended_at", Instant),  # when it was told that the binding has expired
    fields=FIELDS,
)
bindings.append_constraint(UniqueConstraint("policy", "target", "order"))
bindings.append_constraint(index_of_some(bindings.name, "expires"))


def _name(column: Any, key: Any, reference: Any) -> Any:
    return select(column).where(key == reference).scalar_subquery()


# The name of the policy, group or user.
_decider = func.coalesce(
    _name(policies.c.name, policies.c.policy_uuid, bindings.c.policy),
    _name(groups.c.name, groups.c.group_uuid, bindings.c.group),
    _name(users.c.username, users.c.id, bindings.c.user),
    "",
)


_model_of = query(
    select(policy_targets.c.model).where(policy_targets.c.pbm_uuid == bindparam("target", type_=UID())), str
)
_GRANTED = "applicationentitlement"


async def check(draft: RecordDraft[PolicyBindingRecord]) -> None:
    given = [name for name in _ONE if draft.value(name) is not None]
    if draft.whole and not any(name in draft.values for name in _ONE):
        given = []  # whoever sends the whole record says who decides
    if not given:
        words = "This field is required." if draft.whole else "One of policy, group, user must be set."
        draft.complain("policy" if draft.whole else "", words, "required")
    elif len(given) > 1:
        draft.complain("", "Only one of policy, group, user can be set.")
    elif given == ["policy"] and await draft.work.db.one(_model_of, target=draft.now.target) == _GRANTED:
        draft.complain("policy", "Entitlements are granted to people and groups: set user or group instead.")
    complain_end(draft)
    if draft.sets("expires"):
        draft.columns["ended_at"] = None


async def saved(draft: RecordDraft[PolicyBindingRecord]) -> None:
    announce_end(draft)


async def decorate(_work: Work, records: list[PolicyBindingRecord]) -> None:
    for record in records:
        record.expiring = record.expires is not None


def _uuid(text: str) -> str:
    found = read_uuid(text)
    if found is None:
        raise InvalidValue("Enter a valid UUID.")
    return found


RESOURCE = Resource(
    path="/policies/bindings/",
    name="PolicyBinding",
    record=PolicyBindingRecord,
    key="policy_binding_uuid",
    table=bindings,
    fields=FIELDS,
    search=(_decider, "policy_binding_uuid"),
    order=("order",),
    exact=("policy", "target", "enabled", "order", "timeout"),
    filters=(
        ListFilter(
            name="targets", clause=any_of(bindings.c.target, "f_targets"), read=_uuid, bind="f_targets", many=True
        ),
    ),
    label="policy_binding_uuid",
    prepare=check,
    saved=saved,
    decorate=decorate,
    decides=True,
)
