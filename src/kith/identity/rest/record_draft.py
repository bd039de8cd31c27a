"""A record about to be saved, as a resource's hooks see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, cast

from kith.base.errors import Complaint, Invalid
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.rest.record import R


class RecordDraft(Generic[R]):
    """A change to a record: `values` holds what will be written, by field name.

    `stored` holds what is stored (empty for a new record), secrets as they are sealed; `before` is the same as a
    record. `columns` holds what the record does not show but the table wants, `once` what only the answer to this
    call shows. `whole` says that the record was sent as a whole (a new one, or a PUT), so what is required must be
    in it.
    """

    def __init__(
        self,
        work: Work,
        caller: ApiCaller,
        *,
        values: dict[str, Any],
        stored: Mapping[str, Any] | None = None,
        before: R | None = None,
        id: Any = None,
        whole: bool = True,
        field_names: Mapping[str, str] | None = None,
    ) -> None:
        self.work = work
        self.caller = caller
        self.values = values
        self.stored = stored or {}
        self.before = before
        self.id = id
        self.whole = whole
        self.columns: dict[str, Any] = {}
        self.once: dict[str, Any] = {}
        self.complaints: dict[str, list[str]] = {}
        self._now = _Values(self, field_names or {})

    @property
    def is_new(self) -> bool:
        return self.before is None

    @property
    def now(self) -> R:
        """The record as it will be once this is saved. Setting an attribute changes what will be written.

        What a new record does not have yet is None.
        """
        return cast("R", self._now)

    def value(self, name: str) -> Any:
        """As `now`, by the name of a field."""
        return self.values[name] if name in self.values else self.stored.get(name)

    def sets(self, name: str) -> bool:
        return name in self.values and (self.before is None or self.stored.get(name) != self.values[name])

    def added(self, name: str) -> list[Any]:
        """What a list of references gains by this."""
        before = set(self.stored.get(name, ()))
        return [one for one in self.values.get(name, ()) if one not in before]

    def complain(self, name: str, words: str, code: str = "invalid") -> None:
        """Say what is wrong with a field (or, under the empty name, with several); raised when the hook returns."""
        self.complaints.setdefault(name, []).append(Complaint(words, code))

    def raise_complaints(self) -> None:
        if self.complaints:
            raise Invalid(fields=self.complaints)


class _Values:
    """The values of a draft as attributes, so that they are typed like those of its record."""

    __slots__ = ("_draft", "_field_names")

    def __init__(self, draft: RecordDraft[Any], field_names: Mapping[str, str]) -> None:
        object.__setattr__(self, "_draft", draft)
        object.__setattr__(self, "_field_names", field_names)

    def __getattr__(self, name: str) -> Any:
        return self._draft.value(self._field_names.get(name, name))

    def __setattr__(self, name: str, value: Any) -> None:
        self._draft.values[self._field_names.get(name, name)] = value
