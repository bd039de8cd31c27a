"""What is masked when it is shown, though it is no `Secret`: guarded fields, and passwords in JSON objects.

In objects with `hides` some keys hold passwords (`HiddenAttributes`), at their top; in guarded ones all of them do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kith.base.work import Work
from kith.identity.audit.hidden_attributes import hidden_attributes
from kith.identity.rest.fields import MASK
from kith.identity.rest.record import R
from kith.identity.rest.record_store import RecordStore

__all__ = ["mask", "mask_guarded", "unmasked"]


async def mask(store: RecordStore[R], work: Work, records: Sequence[R]) -> None:
    """Mask the passwords in records that are about to be shown."""
    hidden = await hidden_attributes(work)
    for field in store.hiding if hidden else ():
        name = store.attributes[field.name]
        for record in records:
            shown = {key: MASK if key in hidden and value else value for key, value in getattr(record, name).items()}
            setattr(record, name, shown)


def mask_guarded(store: RecordStore[R], records: Sequence[R]) -> None:
    for field in store.guarded:
        name = store.attributes[field.name]
        for record in records:
            setattr(record, name, _masked(getattr(record, name)))


def _masked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: MASK if one else one for key, one in value.items()}
    return MASK if value else value


def unmasked(
    store: RecordStore[Any], values: Mapping[str, Any], stored: Mapping[str, Any], hidden: Collection[str]
) -> dict[str, Any]:
    """The values that were sent, with what is stored wherever its mask was sent back."""
    found = dict(values)
    for field in (*store.hiding, *store.guarded):
        kept, sent = stored[field.name], found.get(field.name)
        if not isinstance(kept, Mapping) or not isinstance(sent, Mapping):
            continue
        names = kept if field.guarded else hidden
        masked = [name for name in names if name in kept and sent.get(name) == MASK]
        if masked:
            found[field.name] = found[field.name] | {name: kept[name] for name in masked}
    return found
