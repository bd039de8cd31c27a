"""What a service is told of a person or a group: by the provider's mappings, else by the shipped ones."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.audit.hidden_attributes import hidden_attributes, without
from kith.identity.expressions.run import ExpressionObject
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.mappings import service as mapping_service
from kith.identity.providers.scim.target import ScimTarget
from kith.identity.rest.fields import MASK
from kith.identity.scim.schemas import ENTERPRISE_SCHEMA, GROUP_SCHEMA, USER_SCHEMA

MOST_BYTES = 256 << 10


class ScimMappingFailed(Exception):  # noqa: N818 - the reason why something is not told
    """A mapping could not be evaluated, or does not make a resource."""


class LeftOut(Exception):  # noqa: N818 - an answer
    """A mapping has said that this one is not to be told (`raise SkipObject`)."""


async def describe_person(work: Work, target: ScimTarget, person: PolicySubject) -> dict[str, Any]:
    if target.user_mappings:
        told = await _mapped(work, target, target.user_mappings, person, {})
    else:
        told = _usual_person(person)
    if not isinstance(told.get("userName"), str) or not told["userName"]:
        raise ScimMappingFailed("the mappings give no userName")
    told["active"] = told.get("active", True) is not False
    schemas = [USER_SCHEMA, ENTERPRISE_SCHEMA] if ENTERPRISE_SCHEMA in told else [USER_SCHEMA]
    return _checked({"schemas": schemas, **told})


def _usual_person(person: PolicySubject) -> dict[str, Any]:
    """The same as the shipped mapping `SCIM: person`, without the sandbox."""
    user = person.user
    words = user.name.split(" ")
    told: dict[str, Any] = {
        "userName": user.username,
        "externalId": user.uid,
        "displayName": user.name,
        "name": {"formatted": user.name, "givenName": words[0], "familyName": " ".join(words[1:]) or words[0]},
        "active": True,
    }
    if user.counted_email:
        told["emails"] = [{"value": user.counted_email, "type": "other", "primary": True}]
    return told


async def describe_group(
    work: Work, target: ScimTarget, group_uuid: str, name: str, attributes: dict[str, Any]
) -> dict[str, Any]:
    """Without members, which are told apart."""
    if target.group_mappings:
        shown = without(attributes, await hidden_attributes(work), MASK)
        group = ExpressionObject(pk=group_uuid, group_uuid=group_uuid, name=name, attributes=shown)
        told = await _mapped(work, target, target.group_mappings, None, {"group": group})
        told.pop("members", None)
    else:
        told = {"displayName": name, "externalId": group_uuid}
    if not isinstance(told.get("displayName"), str) or not told["displayName"]:
        raise ScimMappingFailed("the mappings give no displayName")
    return _checked({"schemas": [GROUP_SCHEMA], **told})


async def _mapped(
    work: Work,
    target: ScimTarget,
    mappings: Sequence[tuple[str, str]],
    person: PolicySubject | None,
    given: Mapping[str, Any],
) -> dict[str, Any]:
    told: dict[str, Any] = {}
    provider = {"pk": target.provider, "name": target.name}
    for name, expression in mappings:
        outcome = await mapping_service.evaluate(work, expression, person, {**given, "provider": provider})
        if outcome.error is not None:
            if "SkipObject" in outcome.error:
                raise LeftOut
            raise ScimMappingFailed(f"the mapping {name} failed: {outcome.error}"[:500])
        if outcome.value is None:
            continue
        if not isinstance(outcome.value, dict):
            raise ScimMappingFailed(f"the mapping {name} returns no object")
        told |= outcome.value
    return told


def _checked(told: dict[str, Any]) -> dict[str, Any]:
    try:
        size = len(msgspec.json.encode(told))
    except (TypeError, ValueError) as error:
        raise ScimMappingFailed("the mappings return something that is no JSON") from error
    if size > MOST_BYTES:
        raise ScimMappingFailed(f"the mappings return more than {MOST_BYTES} bytes")
    return told


def digest_of(told: Mapping[str, Any]) -> str:
    return hashlib.sha256(msgspec.json.encode(told, order="deterministic")).hexdigest()
