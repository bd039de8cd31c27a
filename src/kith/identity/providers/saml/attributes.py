"""What an assertion says of a person: the property mappings of the provider, evaluated."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import select

from kith.base.counted_log import log_counted
from kith.base.db import any_of, query
from kith.base.work import Work
from kith.identity.applications import entitlements
from kith.identity.audit import service as audit
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.expressions.values import ExpressionObject
from kith.identity.mappings import service as mappings
from kith.identity.mappings.family import mappings as mapping_rows
from kith.identity.mappings.kinds.saml import RESOURCE
from kith.identity.providers.saml.service_provider import ServiceProvider


class SAMLExpression(msgspec.Struct, frozen=True):
    pm_uuid: str
    name: str
    saml_name: str
    friendly_name: str | None
    expression: str


class Attribute(msgspec.Struct, frozen=True):
    name: str
    friendly_name: str | None
    values: list[str]


class MappingFailed(Exception):  # noqa: N818 - an answer
    """A mapping could not be evaluated; it is written down."""


assert RESOURCE.table is not None  # noqa: S101 - a kind has one
_kind = RESOURCE.table
_of_provider = query(
    select(
        mapping_rows.c.pm_uuid, mapping_rows.c.name, _kind.c.saml_name, _kind.c.friendly_name, mapping_rows.c.expression
    )
    .join(_kind, _kind.c.pm_uuid == mapping_rows.c.pm_uuid)
    .where(any_of(mapping_rows.c.pm_uuid, "ids"))
    .order_by(_kind.c.saml_name, mapping_rows.c.name, mapping_rows.c.pm_uuid),
    SAMLExpression,
)


async def attributes_of(work: Work, service: ServiceProvider, person: PolicySubject) -> list[Attribute]:
    """By the names of the attributes. A mapping that gives nothing or fails is left out."""
    ids = service.record.property_mappings
    found = []
    for mapping in await work.db.all(_of_provider, ids=list(ids)) if ids else []:
        try:
            values = texts(await _evaluate(work, service, person, mapping))
        except MappingFailed:
            continue
        if values is not None:
            found.append(Attribute(mapping.saml_name, mapping.friendly_name, values))
    return found


async def value_of(work: Work, service: ServiceProvider, person: PolicySubject, pm_uuid: str | None) -> str | None:
    """The single value of one mapping; None without a mapping, or if it gives nothing.

    One that fails raises `MappingFailed`: who is told another name instead is taken for somebody else.
    """
    found = await work.db.all(_of_provider, ids=[pm_uuid]) if pm_uuid is not None else []
    values = texts(await _evaluate(work, service, person, found[0])) if found else None
    return values[0] if values else None


async def _evaluate(work: Work, service: ServiceProvider, person: PolicySubject, mapping: SAMLExpression) -> Any:
    application = service.application
    given = {
        "provider": ExpressionObject(
            pk=service.id,
            name=service.record.name,
            issuer=service.issuer,
            application=ExpressionObject(application.facts()) if application is not None else None,
        ),
        "entitlements": await entitlements.facts_for(
            work, application.pbm_uuid if application is not None else None, person, mapping.expression
        ),
    }
    outcome = await mappings.evaluate(work, mapping.expression, person, given)
    if outcome.error is not None:
        await _write_down(work, service, mapping, person, outcome.error)
        raise MappingFailed
    return outcome.value


def texts(value: Any) -> list[str] | None:
    """A result as the values of an attribute; None if there is no attribute at all."""
    if value is None:
        return None
    members = value if isinstance(value, list) else [value]
    return [_text(member) for member in members if member is not None]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


async def _write_down(
    work: Work, service: ServiceProvider, mapping: SAMLExpression, person: PolicySubject, wrong: str
) -> None:
    log_counted("info", "saml.mapping_failed", mapping.name, mapping=mapping.name, cause=wrong[:500])
    context = {
        "mapping": {"pk": mapping.pm_uuid, "name": mapping.name},
        "provider": {"pk": service.id, "name": service.record.name},
        "message": wrong[:2000],
    }
    async with work.aside() as aside:
        await audit.record(
            aside,
            "property_mapping_exception",
            "providers.saml",
            user_id=person.user.id,
            username=person.user.username,
            context=context,
        )
