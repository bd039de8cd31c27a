"""The application of a provider. It is stored with the application, so it is looked up here."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from kith.base.db import any_of, query
from kith.base.work import Work
from kith.identity.applications.tables import applications, backchannel_links
from kith.identity.providers.family import ProviderRecord
from kith.identity.rest.fields import Computed, Field

_WORD = {"type": ["string", "null"]}
FIELDS: tuple[Field, ...] = (
    Computed(name="assigned_application_slug", form=_WORD),
    Computed(name="assigned_application_name", form=_WORD),
)

_of_providers = query(
    select(applications.c.provider, applications.c.slug, applications.c.name).where(
        any_of(applications.c.provider, "ids")
    ),
    tuple,
)


_backchannel = query(
    select(backchannel_links.c.other, applications.c.slug, applications.c.name)
    .join(applications, applications.c.pbm_uuid == backchannel_links.c.owner)
    .where(any_of(backchannel_links.c.other, "ids")),
    tuple,
)


async def backchannel_applications(work: Work, provider_ids: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Slug and name of the applications that name these providers in `backchannel_providers`."""
    rows = await work.db.all(_backchannel, ids=list(provider_ids))
    return {provider: (slug, name) for provider, slug, name in rows}


async def tell_applications(work: Work, records: Sequence[ProviderRecord]) -> None:
    rows = await work.db.all(_of_providers, ids=[record.pk for record in records])
    found = {provider: (slug, name) for provider, slug, name in rows}
    for record in records:
        slug, name = found.get(record.pk, (None, None))
        record.assigned_application_slug = slug
        record.assigned_application_name = name
