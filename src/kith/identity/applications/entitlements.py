"""/core/application_entitlements/: what people may do within an application, told to it when they sign in.

A binding to a person or a group grants an entitlement. The server itself decides nothing by it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Column, ForeignKey, UniqueConstraint, and_, bindparam, or_, select

from kith.base.db import UID, any_of, not_over, query
from kith.base.work import Work
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.expressions.values import ExpressionObject
from kith.identity.policies.bindings import bindings
from kith.identity.rest import Resource, policy_targets, record_table
from kith.identity.rest.fields import Object, Reference, Text
from kith.identity.rest.record import Record

FIELDS = (
    Text(name="name", required=True, most=255, help="What the application is told; unique within the application."),
    Reference(name="app", required=True, to="identity_applications.pbm_uuid", on_delete="CASCADE"),
    Object(name="attributes", private=True),
)


class ApplicationEntitlement(Record, kw_only=True):
    pk: str
    pbm_uuid: str
    name: str
    app: str
    attributes: dict[str, Any]
    created: datetime
    last_updated: datetime


entitlements = record_table(
    "identity_application_entitlements",
    Column("pbm_uuid", UID, ForeignKey("identity_policy_targets.pbm_uuid", ondelete="CASCADE"), primary_key=True),
    fields=FIELDS,
)
entitlements.append_constraint(UniqueConstraint("app", "name"))

_app = bindparam("app", type_=UID())
_of_application = query(select(entitlements.c.pbm_uuid).where(entitlements.c.app == _app), str)

_is_named = or_(bindings.c.user == bindparam("user"), any_of(bindings.c.group, "groups"))
_is_other_user = and_(bindings.c.user.is_not(None), bindings.c.user != bindparam("user"))
_is_other_group = and_(bindings.c.group.is_not(None), ~any_of(bindings.c.group, "groups"))
_grants = or_(
    and_(~bindings.c.negate, _is_named),
    and_(bindings.c.negate, or_(_is_other_user, _is_other_group)),
)
_granting = select(bindings.c.target).where(and_(bindings.c.enabled, not_over(bindings.c.expires), _grants))


class GrantedEntitlement(msgspec.Struct, frozen=True):
    pbm_uuid: str
    name: str
    attributes: dict[str, Any]


_granted = query(
    select(entitlements.c.pbm_uuid, entitlements.c.name, entitlements.c.attributes)
    .where(and_(entitlements.c.app == _app, entitlements.c.pbm_uuid.in_(_granting)))
    .order_by(entitlements.c.name),
    GrantedEntitlement,
)


async def granted(work: Work, application: str, person: PolicySubject) -> list[GrantedEntitlement]:
    """What a person may do within an application: by themselves, through their groups and all above those."""
    groups = [group["group_uuid"] for group in person.groups]
    return await work.db.all(_granted, app=application, user=person.user.id, groups=groups)


async def granted_names(work: Work, application: str | None, person: PolicySubject) -> list[str]:
    return [one.name for one in await granted(work, application, person)] if application is not None else []


async def facts_for(
    work: Work, application: str | None, person: PolicySubject, *expressions: str
) -> list[ExpressionObject]:
    """The entitlements as mappings know them; looked up only where one of the expressions names them."""
    if application is None or not any("entitlements" in expression for expression in expressions):
        return []
    found = await granted(work, application, person)
    return [ExpressionObject(pk=one.pbm_uuid, name=one.name, attributes=one.attributes) for one in found]


async def remove_of(work: Work, application: str) -> None:
    """Delete the entitlements of an application with everything that is bound to them."""
    await policy_targets.remove(work.db, await work.db.all(_of_application, app=application))


RESOURCE = Resource(
    path="/core/application_entitlements/",
    name="ApplicationEntitlement",
    record=ApplicationEntitlement,
    key="pbm_uuid",
    table=entitlements,
    fields=FIELDS,
    target=True,
    search=("name",),
    exact=("name", "app"),
    decides=True,
    describe="Bind people or groups to an entitlement (/policies/bindings/) to grant it.",
)
