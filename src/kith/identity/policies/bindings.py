"""Which policy, group or person decides about which target, in which order.

A policy that is bound cannot be deleted. People and groups can: the binding stays, says whom it named, and refuses
until somebody points it elsewhere or deletes it (decisions/0039).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Boolean as SQLBoolean
from sqlalchemy import Column, Index, UniqueConstraint, and_, bindparam, func, select

from kith.base.db import UID, Instant, any_of, index_of_some, query
from kith.base.work import Work
from kith.identity.groups.tables import groups
from kith.identity.policies.family import policies
from kith.identity.rest.ends import announce_end, complain_end
from kith.identity.rest.fields import (
    Boolean,
    Choice,
    Computed,
    Integer,
    InvalidValue,
    Moment,
    Reference,
    Text,
    read_uuid,
)
from kith.identity.rest.holders import SHOWN_BY
from kith.identity.rest.policy_targets import policy_targets
from kith.identity.rest.record import Record
from kith.identity.rest.record_draft import RecordDraft
from kith.identity.rest.resource import ListFilter, Resource, record_table
from kith.identity.users.tables import users

_ONE = ("policy", "group", "user")

FIELDS = (
    Reference(name="policy", null=True, to=f"{policies.name}.policy_uuid", on_delete="RESTRICT"),
    Reference(name="group", null=True, to="identity_groups.group_uuid", on_delete="SET NULL"),
    Reference(name="user", null=True, to="identity_users.id", on_delete="SET NULL", integer=True),
    Reference(name="target", required=True, to=f"{policy_targets.name}.pbm_uuid", on_delete="CASCADE"),
    Boolean(name="negate", default=False, help="Turn the outcome around."),
    Boolean(name="enabled", default=True),
    Integer(name="order", required=True),
    Integer(name="timeout", default=30, least=0, help="Seconds before the check counts as failed."),
    Boolean(name="failure_result", default=False, help="What counts when the check cannot be made."),
    Moment(name="expires", null=True, default=None, help="From then on the binding fails, whatever it is about."),
    Computed(name="expiring", form={"type": "boolean"}),
    Computed(
        name="gone", form={"type": "boolean"}, help="Whom it named was deleted: it refuses, whatever else is set."
    ),
    Choice(
        name="gone_kind", null=True, default=None, choices=_ONE, help="What that was; for a new binding that refuses."
    ),
    Text(name="gone_name", null=True, default=None, most=255, help="What it was called."),
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
    gone: bool = False
    gone_kind: str | None = None
    gone_name: str | None = None
    created: datetime
    last_updated: datetime


bindings = record_table(
    "identity_policy_bindings",
    Column("policy_binding_uuid", UID, primary_key=True),
    Column("ended_at", Instant),  # when it was told that the binding has expired
    Column("gone_at", Instant),  # when it was told that whom the binding named is gone
    fields=FIELDS,
)
bindings.append_constraint(UniqueConstraint("policy", "target", "order"))
bindings.append_constraint(index_of_some(bindings.name, "expires"))
bindings.info[SHOWN_BY] = "target"
IS_GONE = and_(*(bindings.c[name].is_(None) for name in _ONE))
_is_untold = and_(IS_GONE, bindings.c.gone_at.is_(None))
Index(
    f"ix_{bindings.name}_gone",
    bindings.c.policy_binding_uuid,
    sqlite_where=_is_untold,
    postgresql_where=_is_untold,
)


def _name(column: Any, key: Any, reference: Any) -> Any:
    return select(column).where(key == reference).scalar_subquery()


# The name of the policy, group or user.
_decider = func.coalesce(
    _name(policies.c.name, policies.c.policy_uuid, bindings.c.policy),
    _name(groups.c.name, groups.c.group_uuid, bindings.c.group),
    _name(users.c.username, users.c.id, bindings.c.user),
    bindings.c.gone_name,
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
        _check_refusing(draft)
    elif len(given) > 1:
        draft.complain("", "Only one of policy, group, user can be set.")
    elif given == ["policy"] and await draft.work.db.one(_model_of, target=draft.now.target) == _GRANTED:
        draft.complain("policy", "Entitlements are granted to people and groups: set user or group instead.")
    else:
        draft.values |= {"gone_kind": None, "gone_name": None}
        draft.columns["gone_at"] = None
    if not draft.is_new:  # a new one that is over already only refuses: as a copy of another server has it
        complain_end(draft)
    if draft.sets("expires"):
        draft.columns["ended_at"] = None


def _check_refusing(draft: RecordDraft[PolicyBindingRecord]) -> None:
    """One whose person or group is gone stays so until it is pointed elsewhere. A copy of one can be made."""
    if draft.before is not None and is_gone(draft.before):
        return
    if draft.is_new and draft.now.gone_kind:
        draft.columns["gone_at"] = draft.work.now
        return
    words = "This field is required." if draft.whole else "One of policy, group, user must be set."
    draft.complain("policy" if draft.whole else "", words, "required")


def is_gone(record: PolicyBindingRecord) -> bool:
    return all(getattr(record, name) is None for name in _ONE)


async def saved(draft: RecordDraft[PolicyBindingRecord]) -> None:
    announce_end(draft)


async def decorate(_work: Work, records: list[PolicyBindingRecord]) -> None:
    for record in records:
        record.expiring = record.expires is not None
        record.gone = is_gone(record)


def read_word(text: str) -> bool | None:
    return {"true": True, "1": True, "false": False, "0": False}.get(text.lower())


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
    exact=("policy", "group", "user", "target", "enabled", "order", "timeout"),
    filters=(
        ListFilter(
            name="targets", clause=any_of(bindings.c.target, "f_targets"), read=_uuid, bind="f_targets", many=True
        ),
        ListFilter(
            name="gone", clause=bindparam("f_gone", type_=SQLBoolean()) == IS_GONE, read=read_word, bind="f_gone"
        ),
    ),
    label="policy_binding_uuid",
    prepare=check,
    saved=saved,
    decorate=decorate,
    decides=True,
)
