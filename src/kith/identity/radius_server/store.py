"""Providers for network devices, with the applications they lead into."""

from __future__ import annotations

import msgspec
from sqlalchemy import select

from kith.base.db import Session, query
from kith.identity.applications.tables import applications
from kith.identity.providers.family import providers
from kith.identity.providers.kinds.radius import radius_providers as _own

__all__ = ["SECRET_PLACE", "NetworkProvider", "all_providers"]

SECRET_PLACE = f"{_own.name}.shared_secret"


class NetworkProvider(msgspec.Struct, frozen=True):
    """`shared_secret` is sealed."""

    id: int
    name: str
    shared_secret: str
    client_networks: str
    certificate: str | None
    mfa_support: bool
    application: str | None
    application_name: str | None
    slug: str | None
    policy_engine_mode: str | None


_all_providers = query(
    select(
        providers.c.id, providers.c.name, _own.c.shared_secret, _own.c.client_networks, _own.c.certificate,
        _own.c.mfa_support, applications.c.pbm_uuid.label("application"),
        applications.c.name.label("application_name"), applications.c.slug, applications.c.policy_engine_mode,
    )
    .select_from(
        providers.join(_own, _own.c.id == providers.c.id).outerjoin(
            applications, applications.c.provider == providers.c.id
        )
    )
    .order_by(providers.c.id),
    NetworkProvider,
)  # fmt: skip


async def all_providers(db: Session) -> list[NetworkProvider]:
    return await db.all(_all_providers)
