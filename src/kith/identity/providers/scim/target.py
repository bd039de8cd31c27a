"""A service that is told: its address and token, and the application whose policies say of whom."""

from __future__ import annotations

import msgspec
from sqlalchemy import Integer, bindparam, exists, select

from kith.base.db import query
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.applications.tables import applications, backchannel_links
from kith.identity.mappings.family import mappings
from kith.identity.policies.bindings import bindings
from kith.identity.providers.family import provider_mappings, providers
from kith.identity.providers.kinds.scim import group_mappings, scim_providers

TOKEN_PLACE = "identity_providers_scim.token"  # noqa: S105 - where one is kept


class ScimTarget(msgspec.Struct, kw_only=True):
    """`application` is the id of its policies, None where no application names the provider: then nobody may enter."""

    provider: int
    name: str
    url: str
    token: str
    exclude_service_accounts: bool
    filter_group: str | None
    deprovision: str
    application: str | None
    application_name: str | None
    slug: str | None
    policy_engine_mode: str | None
    is_bound: bool
    user_mappings: list[tuple[str, str]] = []
    group_mappings: list[tuple[str, str]] = []


_is_bound = exists().where(bindings.c.target == applications.c.pbm_uuid)
_target = query(
    select(
        providers.c.id.label("provider"),
        providers.c.name,
        scim_providers.c.url,
        scim_providers.c.token,
        scim_providers.c.exclude_users_service_account.label("exclude_service_accounts"),
        scim_providers.c.filter_group,
        scim_providers.c.deprovision,
        applications.c.pbm_uuid.label("application"),
        applications.c.name.label("application_name"),
        applications.c.slug,
        applications.c.policy_engine_mode,
        _is_bound.label("is_bound"),
    )
    .join(scim_providers, scim_providers.c.id == providers.c.id)
    .outerjoin(backchannel_links, backchannel_links.c.other == providers.c.id)
    .outerjoin(applications, applications.c.pbm_uuid == backchannel_links.c.owner)
    .where(providers.c.id == bindparam("provider", type_=Integer())),
    tuple,
)


_user_mappings = query(
    select(mappings.c.name, mappings.c.expression)
    .join(provider_mappings, provider_mappings.c.other == mappings.c.pm_uuid)
    .where(provider_mappings.c.owner == bindparam("provider", type_=Integer()))
    .order_by(mappings.c.name, mappings.c.pm_uuid),
    tuple,
)
_group_mappings = query(
    select(mappings.c.name, mappings.c.expression)
    .join(group_mappings, group_mappings.c.other == mappings.c.pm_uuid)
    .where(group_mappings.c.owner == bindparam("provider", type_=Integer()))
    .order_by(mappings.c.name, mappings.c.pm_uuid),
    tuple,
)


async def find_target(work: Work, provider: int) -> ScimTarget | None:
    row = await work.db.one(_target, provider=provider)
    if row is None:
        return None
    found = ScimTarget(**dict(zip(ScimTarget.__struct_fields__[:12], row, strict=True)))
    found.token = work.find(Sealer).open(found.token, TOKEN_PLACE) if found.token else ""
    found.is_bound = bool(found.is_bound)
    found.user_mappings = await work.db.all(_user_mappings, provider=provider)
    found.group_mappings = await work.db.all(_group_mappings, provider=provider)
    return found
