"""JSON objects in which some keys hold passwords (`HiddenAttributes`), at their top: masked when they are shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kith.base.work import Work
from kith.identity.audit.hidden_attributes import hidden_attributes
from kith.identity.rest.fields import MASK
from kith.identity.rest.record import R
from kith.identity.rest.record_store import RecordStore

__all__ = ["mask", "unmasked"]


async def mask(store: RecordStore[R], work: Work, records: Sequence[R]) -> None:
    """Mask the passwords in records that are about to be shown."""
    hidden = await hidden_attributes(work)
    for field in store.hiding if hidden else ():
        name = store.attributes[field.name]
        for record in records:
            shown = {key: MASK if key in hidden and value else value for key, value in getattr(record, name).items()}
            setattr(record, name, shown)


def unmasked(
    store: RecordStore[Any], values: Mapping[str, Any], stored: Mapping[str, Any], hidden: Collection[str]
) -> dict[str, Any]:
    """The values that were sent, with what is stored wherever its mask was sent back."""
    found = dict(values)
    for field in store.hiding:
        kept = stored[field.name]
        masked = [name for name in hidden if name in kept and found.get(field.name, {}).get(name) == MASK]
        if masked:
            found[field.name] = found[field.name] | {name: kept[name] for name in masked}
    return found
