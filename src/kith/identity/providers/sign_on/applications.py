"""The application that a provider leads into."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import query
from kith.base.work import Work
from kith.identity.applications.tables import applications


class ClientApplication(msgspec.Struct, frozen=True):
    """The application that a provider's client leads into; its policies decide who may enter."""

    pbm_uuid: str
    name: str
    slug: str
    policy_engine_mode: str
    meta_launch_url: str

    def model(self) -> dict[str, Any]:
        """As the audit trail names it."""
        return {"app": "core", "model_name": "application", "pk": self.pbm_uuid, "name": self.name}

    def facts(self) -> dict[str, Any]:
        """As flows know it."""
        return {
            "pk": self.pbm_uuid,
            "name": self.name,
            "slug": self.slug,
            "meta_launch_url": self.meta_launch_url,
        }


_of_provider = query(
    select(*(applications.c[name] for name in ClientApplication.__struct_fields__)).where(
        applications.c.provider == bindparam("provider")
    ),
    ClientApplication,
)


async def find_application(work: Work, provider_id: int) -> ClientApplication | None:
    return await work.db.one(_of_provider, provider=provider_id)
