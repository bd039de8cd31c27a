from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import BindParameter, Integer, String, and_, bindparam, func, literal_column, null, or_, select

from kith.base.db import UID, Session, query
from kith.identity.applications.tables import applications
from kith.identity.consents.tables import consents
from kith.identity.groups.tables import IS_MEMBER, groups, members
from kith.identity.policies.bindings import bindings
from kith.identity.policies.family import policies
from kith.identity.providers.oauth2.tables import apps, grants
from kith.identity.users.tables import users


class ApplicationLine(msgspec.Struct):
    pbm_uuid: str
    slug: str
    name: str
    policy_engine_mode: str


class BindingLine(msgspec.Struct):
    """Who or what decides about an application. None of the three names is there where whom it named was deleted."""

    group: str | None
    user_id: int | None
    negate: bool
    created_at: datetime
    expires: datetime | None
    username: str | None
    group_name: str | None
    policy_name: str | None
    enabled: bool


class AllowedLine(msgspec.Struct):
    """What somebody has allowed an application: a consent, or a grant under which it has tokens."""

    key: str
    slug: str | None
    name: str | None
    user_id: int
    username: str
    scopes: Any
    created_at: datetime
    expires_at: datetime | None


_after = bindparam("after", type_=UID())
_most: BindParameter[int] = bindparam("most")
ALL_USERS, ALL_APPLICATIONS = -1, "00000000-0000-0000-0000-000000000000"
_one_application = bindparam("application", type_=UID())
_one_user = bindparam("user", type_=Integer())


def _asked(column: Any, value: Any) -> Any:
    every = f"'{ALL_APPLICATIONS}'" if value is _one_application else str(ALL_USERS)
    return or_(literal_column(every, value.type) == value, column == value)


_by_slug = query(select(applications.c.pbm_uuid).where(applications.c.slug == bindparam("slug")), str)
_applications = query(
    select(*(applications.c[name] for name in ApplicationLine.__struct_fields__))
    .where(and_(applications.c.pbm_uuid > _after, _asked(applications.c.pbm_uuid, _one_application)))
    .order_by(applications.c.pbm_uuid)
    .limit(_most),
    ApplicationLine,
)
_bindings = query(
    select(
        bindings.c.group,
        bindings.c.user.label("user_id"),
        bindings.c.negate,
        bindings.c.created_at,
        bindings.c.expires,
        users.c.username,
        groups.c.name.label("group_name"),
        policies.c.name.label("policy_name"),
        bindings.c.enabled,
    )
    .select_from(
        bindings.outerjoin(users, users.c.id == bindings.c.user)
        .outerjoin(groups, groups.c.group_uuid == bindings.c.group)
        .outerjoin(policies, policies.c.policy_uuid == bindings.c.policy)
    )
    .where(bindings.c.target == bindparam("target", type_=UID()))
    .order_by(bindings.c.order, bindings.c.policy_binding_uuid),
    BindingLine,
)
_top = select(groups.c.group_uuid).where(groups.c.group_uuid == bindparam("group", type_=UID()))
_down = _top.cte("down", recursive=True)
_down = _down.union(select(groups.c.group_uuid).where(groups.c.parent == _down.c.group_uuid))
_in_group = select(members.c.user_id).where(and_(members.c.group_uuid.in_(select(_down.c.group_uuid)), IS_MEMBER))
_members = query(
    select(users.c.id, users.c.username)
    .where(and_(users.c.id > bindparam("after_user"), _asked(users.c.id, _one_user), users.c.id.in_(_in_group)))
    .order_by(users.c.id)
    .limit(_most),
    tuple,
)
_consents = query(
    select(
        consents.c.consent_uuid.label("key"),
        applications.c.slug,
        applications.c.name,
        users.c.id.label("user_id"),
        users.c.username,
        consents.c.permissions.label("scopes"),
        consents.c.created_at,
        consents.c.expires_at,
    )
    .select_from(
        consents.join(users, users.c.id == consents.c.user_id).join(
            applications, applications.c.pbm_uuid == consents.c.application
        )
    )
    .where(
        and_(
            consents.c.consent_uuid > _after,
            _asked(consents.c.user_id, _one_user),
            _asked(consents.c.application, _one_application),
        )
    )
    .order_by(consents.c.consent_uuid)
    .limit(_most),
    AllowedLine,
)
_grants = query(
    select(
        grants.c.grant_uuid.label("key"),
        applications.c.slug,
        func.coalesce(applications.c.name, apps.c.name, literal_column("''", String)).label("name"),
        users.c.id.label("user_id"),
        users.c.username,
        grants.c.scopes,
        grants.c.created_at,
        null().label("expires_at"),
    )
    .select_from(
        grants.join(users, users.c.id == grants.c.user_id)
        .outerjoin(applications, applications.c.provider == grants.c.provider_id)
        .outerjoin(apps, apps.c.id == grants.c.app_id)
    )
    .where(
        and_(
            grants.c.grant_uuid > _after,
            _asked(grants.c.user_id, _one_user),
            _asked(applications.c.pbm_uuid, _one_application),
        )
    )
    .order_by(grants.c.grant_uuid)
    .limit(_most),
    AllowedLine,
)


async def find_application(db: Session, slug: str) -> str | None:
    return await db.one(_by_slug, slug=slug)


async def page_of_applications(db: Session, after: str, most: int, application: str) -> list[ApplicationLine]:
    return await db.all(_applications, after=after, most=most, application=application)


async def bindings_of(db: Session, target: str) -> list[BindingLine]:
    return await db.all(_bindings, target=target)


async def page_of_members(db: Session, group: str, after: int, most: int, user: int) -> list[tuple[int, str]]:
    return await db.slow(_members, group=group, after_user=after, most=most, user=user)


async def page_of_consents(
    db: Session, after: str, most: int, user: int | None, application: str | None
) -> list[AllowedLine]:
    return await db.slow(_consents, after=after, most=most, user=user, application=application)


async def page_of_grants(
    db: Session, after: str, most: int, user: int | None, application: str | None
) -> list[AllowedLine]:
    return await db.slow(_grants, after=after, most=most, user=user, application=application)
