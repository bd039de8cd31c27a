"""Values that may hold secrets under any name: events say that they changed, and not what they are."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from typing import Any

from kith.base.keys import Keys
from kith.base.work import Work
from kith.identity.audit.service import difference

__all__ = ["fingerprinted", "told_changes"]

LENGTH = 12
PREFIX = "fingerprint:"


def fingerprinted(work: Work, place: str, value: Any) -> Any:
    """What events tell of a private value at its place (model, record and field); of an object, of each thing in it.

    Nobody can check a guess against it: it is made with the server's own key, and differs from place to place.
    """
    if isinstance(value, Mapping):
        return {str(name): _fingerprint(work, [place, str(name)], one) for name, one in value.items()}
    return _fingerprint(work, [place], value)


def _fingerprint(work: Work, place: list[str], value: Any) -> Any:
    """Nothing, and yes or no, stay as they are."""
    if value is None or isinstance(value, bool) or value in ("", {}, []):
        return value
    told = json.dumps(["audit.private_value", *place, value], sort_keys=True, default=str).encode()
    return PREFIX + hmac.new(work.find(Keys).encryption, told, "sha256").hexdigest()[:LENGTH]


def told_changes(work: Work, user_id: int, before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The changed fields of a person with both values; of their attributes, fingerprints."""

    def told(values: Mapping[str, Any]) -> dict[str, Any]:
        place = f"core.user.{user_id}.attributes"
        return {name: fingerprinted(work, place, one) if name == "attributes" else one for name, one in values.items()}

    return difference(told(before), told(after))
