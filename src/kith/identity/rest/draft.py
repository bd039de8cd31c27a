"""A record about to be saved, as a resource's hooks see it."""

from __future__ import annotations

from typing import Any

from kith.base.errors import Complaint, Invalid
from kith.base.work import Work
from kith.identity.caller import Caller


class Draft:
    """`values` holds what will be written, `before` the stored record (None for a new one).

    `columns` holds what the record does not show but the table wants, `once` what only the answer to this call
    shows. `now` is what a field will be once this is saved. `whole` says that the record was sent as a whole (a new
    one, or a PUT), so what is required must be in it.
    """

    def __init__(
        self, work: Work, caller: Caller, *, values: dict[str, Any], before: dict[str, Any] | None, id: Any = None,
        whole: bool = True,
    ) -> None:  # fmt: skip
        self.work = work
        self.caller = caller
        self.values = values
        self.before = before
        self.id = id
        self.whole = whole
        self.columns: dict[str, Any] = {}
        self.once: dict[str, Any] = {}
        self.complaints: dict[str, list[str]] = {}

    @property
    def is_new(self) -> bool:
        return self.before is None

    def now(self, name: str) -> Any:
        if name in self.values:
            return self.values[name]
        return None if self.before is None else self.before.get(name)

    def sets(self, name: str) -> bool:
        return name in self.values and (self.before is None or self.before.get(name) != self.values[name])

    def added(self, name: str) -> list[Any]:
        """What a list of references gains by this."""
        before = set((self.before or {}).get(name, ()))
        return [one for one in self.values.get(name, ()) if one not in before]

    def complain(self, name: str, words: str, code: str = "invalid") -> None:
        """Say what is wrong with a field (or, under the empty name, with several); raised when the hook returns."""
        self.complaints.setdefault(name, []).append(Complaint(words, code))

    def raise_complaints(self) -> None:
        if self.complaints:
            raise Invalid(fields=self.complaints)
