"""A port for attributes of people and groups that are passwords: nothing tells them to whoever may not change them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from kith.base.work import Work

__all__ = ["HiddenAttributes", "hidden_attributes", "tells_attributes", "without"]


class HiddenAttributes(Protocol):
    async def passwords(self, work: Work) -> frozenset[str]:
        """The names of attributes that somebody signs in with elsewhere."""
        ...

    async def names(self, work: Work) -> set[str]:
        """These, and the others that whoever changes gateways says: they are told where a mapping says so."""
        ...


async def hidden_attributes(work: Work) -> frozenset[str]:
    return await work.find(HiddenAttributes).passwords(work)  # type: ignore[type-abstract]


def without(value: Any, hidden: Collection[str], mask: str) -> Any:
    """A copy in which what has one of these names is masked, however deep it is."""
    if isinstance(value, Mapping):
        return {name: mask if name in hidden and one else without(one, hidden, mask) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [without(one, hidden, mask) for one in value]
    return value


def tells_attributes(value: Any) -> bool:
    if isinstance(value, Mapping):
        return "attributes" in value or any(tells_attributes(one) for one in value.values())
    return isinstance(value, (list, tuple)) and any(tells_attributes(one) for one in value)
