"""What a blueprint can say something about: each kind of record, found, made, changed and deleted in the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from kith.base.work import Work
from kith.identity.blueprints.evaluation import FoundRecord
from kith.identity.blueprints.tags import BadBlueprint
from kith.identity.caller import ApiCaller

if TYPE_CHECKING:
    from kith.identity.blueprints.run import BlueprintRun

__all__ = ["Model", "Models", "RecordLink", "SecretText", "StoredValues", "shown"]

Values = dict[str, Any]


class SecretText(msgspec.Struct, frozen=True):
    """A value that is never shown, and only exported sealed."""

    text: str

    def __repr__(self) -> str:
        return "SecretText(...)"


class RecordLink(msgspec.Struct, frozen=True):
    """A value that names another record: `to` is the column it is named by, `label` what people call it."""

    to: str
    key: Any
    label: str = ""


class StoredValues(msgspec.Struct):
    """A record as far as blueprints go: `values` is what an entry can set, `keys` what others refer to it by."""

    pk: Any
    values: Values
    keys: Mapping[str, Any] = {}


class Model(Protocol):
    """`name` is what entries call it, `file` the export that it is in. `natural` names what a record is known by."""

    name: str
    file: str
    # What of an entry takes long, and is made ready while nobody waits for the transaction.
    slow: tuple[str, ...]
    guarded: tuple[str, ...]  # fields that are shown only to those who may see secrets

    def natural(self, values: Values) -> tuple[str, ...]: ...

    def before_others(self, values: Values) -> int:
        """Records with a smaller number come first in an export."""
        ...

    async def may(self, work: Work, caller: ApiCaller) -> bool:
        """Whether the caller may add, change and delete its records."""
        ...

    async def may_see(self, work: Work, caller: ApiCaller) -> bool: ...

    async def prepare(self, run: BlueprintRun, identifiers: Values, slow: Values) -> None:
        """For an entry with values that are `slow`: what comes of it goes to `run.prepared`."""
        ...

    async def prepared(self, run: BlueprintRun) -> None:
        """After the last entry, also if one of them was wrong."""
        ...

    async def find(self, run: BlueprintRun, wanted: Values) -> StoredValues | None: ...

    async def create(self, run: BlueprintRun, attrs: Values) -> StoredValues: ...

    async def update(self, run: BlueprintRun, stored: StoredValues, attrs: Values) -> StoredValues:
        """Only what is another than it was; the same stays untouched."""
        ...

    async def remove(self, run: BlueprintRun, stored: StoredValues) -> None: ...

    async def every(self, work: Work) -> list[StoredValues]:
        """What an export holds, in an order that stays the same."""
        ...


class Models:
    """Every model there is. `also` are other names: those of authentik's blueprints, and of what can only be found."""

    def __init__(self, models: Iterable[Model], also: Mapping[str, str]) -> None:
        self.listed = tuple(models)
        self._by_name = {model.name: model for model in self.listed}
        self._also = also

    def find(self, name: str) -> Model:
        found = self._by_name.get(self._also.get(name, name))
        if found is None:
            raise BadBlueprint(f"the model {name[:100]} is not known here")
        return found


def reference_of(model: Model, stored: StoredValues) -> FoundRecord:
    return FoundRecord(model.name, stored.pk, stored.keys)


def shown(value: Any) -> Any:
    """A value for people and for the audit trail: secrets are stars, links are names."""
    match value:
        case SecretText():
            return "********" if value.text else ""
        case RecordLink():
            return value.label or value.key
        case FoundRecord():
            return value.pk
        case list():
            return [shown(one) for one in value]
        case dict():
            return {name: shown(one) for name, one in value.items()}
    return value
