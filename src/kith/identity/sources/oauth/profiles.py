"""What a service says of somebody, as fields of a user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kith.identity.sources.arrival import Arrival
from kith.identity.sources.oauth.answers import cleaned
from kith.identity.sources.oauth.presets import ServicePreset
from kith.identity.sources.source_groups import SourceGroup
from kith.identity.sources.store import Source

MOST_TOLD = 100
MOST_CHARACTERS = 2000


def read_arrival(
    source: Source, preset: ServicePreset, profile: Mapping[str, Any], claims: Mapping[str, Any], mode: str
) -> Arrival:
    """`claims` are those of an ID token and come first; without one, all is in the profile."""
    told = cleaned({**profile, **{name: value for name, value in claims.items() if name not in _PROTOCOL}})
    identifier = claims.get("sub") or _first(profile, preset.id)
    groups = told.get("groups")
    properties = {
        "username": _first(told, preset.username),
        "name": _first(told, preset.name),
        "email": _first(told, preset.email),
    }
    return Arrival(
        source=source,
        identifier=identifier or "",
        properties={name: value for name, value in properties.items() if value},
        told=_bounded(told),
        groups=_groups(groups) if isinstance(groups, list) else None,
        group_matching_mode=mode,
        email_verified=is_verified(preset, told),
        remote_session=str(cleaned(claims.get("sid")) or ""),
        given={"info": told, "token": dict(claims)},
    )


# What an ID token says of itself and not of the person.
_PROTOCOL = frozenset({"iss", "aud", "exp", "iat", "nbf", "nonce", "at_hash", "c_hash", "azp", "jti"})


def is_verified(preset: ServicePreset, told: Mapping[str, Any]) -> bool:
    """Only a service that says so in so many words has checked an address."""
    return told.get(preset.verified or "email_verified") is True


def _first(told: Mapping[str, Any], names: Iterable[str]) -> str:
    for name in names:
        value = told.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str) and value.strip() and "\0" not in value:
            return value.strip()[:MOST_CHARACTERS]
    return ""


def _groups(listed: list[Any]) -> list[SourceGroup]:
    return [SourceGroup(one, one) for one in listed if isinstance(one, str) and one]


def _bounded(told: Mapping[str, Any]) -> dict[str, Any]:
    """As much of it as policies are given, and a plan can hold."""
    few = list(told.items())[:MOST_TOLD]
    return {name: value[:MOST_CHARACTERS] if isinstance(value, str) else value for name, value in few}
