"""/providers/all/: providers of every kind, to look at."""

from __future__ import annotations

import msgspec
from sqlalchemy import Boolean as SQLBoolean
from sqlalchemy import bindparam, select

from kith.identity.applications.tables import applications
from kith.identity.providers import assigned_applications
from kith.identity.providers.family import FIELDS, ProviderRecord, providers
from kith.identity.rest import READ, ListFilter, Resource
from kith.identity.rest.fields import Choice

KINDS = ("applicationgateway", "ldap", "oauth2", "openid", "radius", "saml", "scim")


def _word(text: str) -> bool | None:
    return {"true": True, "1": True, "false": False, "0": False}.get(text.lower())


_has_application = select(applications.c.pbm_uuid).where(applications.c.provider == providers.c.id).exists()


class AnyProvider(ProviderRecord, kw_only=True):
    kind: str = msgspec.field(name="__type__")


RESOURCE = Resource(
    path="/providers/all/",
    name="Provider",
    record=AnyProvider,
    key="id",
    table=providers,
    fields=(
        *FIELDS,
        Choice(name="__type__", stored_as="kind", read_only=True, choices=KINDS),
        *assigned_applications.FIELDS,
    ),
    order=("id",),
    filters=(
        ListFilter(
            name="application__isnull",
            clause=_has_application != bindparam("without", type_=SQLBoolean()),
            read=_word,
            bind="without",
        ),
    ),
    allow=READ,
    decorate=assigned_applications.tell_applications,
)
