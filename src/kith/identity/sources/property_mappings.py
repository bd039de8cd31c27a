"""Mappings of a source, evaluated: what it says of somebody becomes fields of a user, and what it calls groups, groups.

A mapping returns an object that is laid over what is known so far. One that fails is written down, and counts as one
that does not want the person or the group: it may be the one that keeps somebody out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import Table, bindparam, select

from kith.base.db import UID, Query, query
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.mappings import service as mapping_service
from kith.identity.mappings.family import mappings
from kith.identity.rest import link_table
from kith.identity.rest.fields import References
from kith.identity.sources.group_membership import MOST_GROUPS, MOST_IN_NAME
from kith.identity.sources.source_groups import SourceGroup
from kith.identity.sources.tables import MOST_IN_IDENTIFIER

if TYPE_CHECKING:
    from kith.identity.sources.arrival import Arrival

MOST_MAPPINGS = 50
MOST_ATTRIBUTE_BYTES = 16 * 1024
SKIP = "SkipObject"  # raised by name: this person or group is not wanted
_TEXTS = ("username", "name", "email")
_PREFIX = "attributes."

_MAPPING = "identity_property_mappings.pm_uuid"
user_mappings = link_table("identity_source_user_mappings", "identity_sources.pbm_uuid", _MAPPING, holds=True)
group_mappings = link_table("identity_source_group_mappings", "identity_sources.pbm_uuid", _MAPPING, holds=True)


class SourceMapping(msgspec.Struct, frozen=True):
    pm_uuid: str
    name: str
    expression: str


class NotWanted(Exception):  # noqa: N818 - what a mapping has decided
    """A mapping has raised `SkipObject`, or could not be asked."""


def fields(kind: str) -> tuple[References, References]:
    """The two fields of a kind of source, for mappings of that kind."""
    where = (("kind", kind),)
    return (
        References(
            name="user_property_mappings",
            to=_MAPPING,
            link=user_mappings,
            where=where,
            most=MOST_MAPPINGS,
            help="Each returns an object of username, name, email, attributes and groups; in the order of their names.",
        ),
        References(
            name="group_property_mappings",
            to=_MAPPING,
            link=group_mappings,
            where=where,
            most=MOST_MAPPINGS,
            help="Each is given a group_id, and returns an object of name and attributes for groups that are new here.",
        ),
    )


def _linked(link: Table) -> Query[SourceMapping]:
    return query(
        select(mappings.c.pm_uuid, mappings.c.name, mappings.c.expression)
        .join(link, link.c.other == mappings.c.pm_uuid)
        .where(link.c.owner == bindparam("source", type_=UID()))
        .order_by(mappings.c.name, mappings.c.pm_uuid),
        SourceMapping,
    )


_of_people, _of_groups = _linked(user_mappings), _linked(group_mappings)


async def apply(work: Work, arrival: Arrival) -> None:
    """Change what is known of the person as the mappings say; `NotWanted` if one of them does not want the person."""
    source = arrival.source.pbm_uuid
    for mapping in await work.db.all(_of_people, source=source):
        known = as_object(arrival)
        value = await _evaluate(work, arrival, mapping, {"properties": known})
        if value is not None:
            _take(arrival, merged(known, value))
    chosen = await work.db.all(_of_groups, source=source) if arrival.groups else []
    if chosen:
        named = [await _named(work, arrival, chosen, one) for one in (arrival.groups or [])[:MOST_GROUPS]]
        arrival.groups = [one for one in named if one is not None]


def as_object(arrival: Arrival) -> dict[str, Any]:
    """What is known of the person, in the shape that mappings return."""
    told = arrival.properties
    found: dict[str, Any] = {name: told[name] for name in _TEXTS if told.get(name)}
    found["attributes"] = {name.removeprefix(_PREFIX): told[name] for name in told if name.startswith(_PREFIX)}
    if arrival.groups is not None:
        found["groups"] = [one.identifier for one in arrival.groups]
    return found


def merged(known: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Objects within are merged too; anything else replaces, and None changes nothing."""
    found = dict(known)
    for name, value in more.items():
        held = found.get(name)
        if isinstance(held, Mapping) and isinstance(value, Mapping):
            found[name] = merged(held, value)
        elif value is not None:
            found[name] = value
    return found


def _take(arrival: Arrival, found: Mapping[str, Any]) -> None:
    """Only what a user has is taken. An address that a mapping gives is confirmed only if the mapping says so."""
    email = _text(found.get("email"))
    if email != arrival.properties.get("email", "") or found.get("email_verified") is False:
        arrival.email_verified = found.get("email_verified") is True
    texts = {name: _text(found.get(name)) for name in _TEXTS}
    attributes = found.get("attributes")
    nested = attributes if isinstance(attributes, Mapping) else {}
    arrival.properties = {name: text for name, text in texts.items() if text}
    if fits(nested):
        arrival.properties |= {f"{_PREFIX}{name}": value for name, value in nested.items() if name}
    groups = found.get("groups")
    if isinstance(groups, list):
        wanted = dict.fromkeys(_text(one) for one in groups[:MOST_GROUPS])
        arrival.groups = [SourceGroup(one, one) for one in wanted if one]


async def _named(work: Work, arrival: Arrival, chosen: list[SourceMapping], group: SourceGroup) -> SourceGroup | None:
    found: dict[str, Any] = {"name": group.name, "attributes": {}}
    for mapping in chosen:
        given = {"group_id": group.identifier, "properties": found}
        try:
            found = merged(found, await _evaluate(work, arrival, mapping, given) or {})
        except NotWanted:
            return None
    attributes = found["attributes"]
    kept = dict(attributes) if isinstance(attributes, Mapping) and fits(attributes) else {}
    return SourceGroup(group.identifier, _text(found["name"])[:MOST_IN_NAME] or group.name, kept)


def fits(attributes: Mapping[str, Any]) -> bool:
    """Whether they can be stored: not too large, and nothing in them that no database holds."""
    try:
        encoded = msgspec.json.encode(attributes)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False
    return len(encoded) <= MOST_ATTRIBUTE_BYTES and b"\\u0000" not in encoded


def _text(value: Any) -> str:
    """The first of several values, as text."""
    if isinstance(value, list):
        value = next(iter(value), "")
    if isinstance(value, bool) or not isinstance(value, (str, int)) or (isinstance(value, int) and abs(value) >> 63):
        return ""
    text = str(value).strip()
    return text if len(text) <= MOST_IN_IDENTIFIER and "\0" not in text else ""


async def _evaluate(
    work: Work, arrival: Arrival, mapping: SourceMapping, more: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    source = arrival.source
    given = {
        **arrival.given,
        **more,
        "source": {"pk": source.pbm_uuid, "name": source.name, "slug": source.slug, "kind": source.kind},
    }
    outcome = await mapping_service.evaluate(work, mapping.expression, None, given)
    if outcome.error is not None and SKIP in outcome.error:
        raise NotWanted
    if outcome.error is None and isinstance(outcome.value, dict):
        return outcome.value
    if outcome.error is None and outcome.value is None:
        return None
    await _write_down(work, arrival, mapping, outcome.error or "A mapping of a source must return an object.")
    raise NotWanted


async def _write_down(work: Work, arrival: Arrival, mapping: SourceMapping, wrong: str) -> None:
    context = {
        "mapping": {"pk": mapping.pm_uuid, "name": mapping.name},
        "source": {"pk": arrival.source.pbm_uuid, "name": arrival.source.name, "slug": arrival.source.slug},
        "message": wrong[:2000],
    }
    async with work.aside() as aside:
        await audit.record(aside, "property_mapping_exception", "sources.mappings", context=context)
