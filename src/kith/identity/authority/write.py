"""One write of a record, as the checks of its collection see it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NoReturn

import msgspec

from kith.base.errors import Forbidden
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.rest import RecordDraft, Resource

__all__ = ["Check", "RecordWrite", "refuse"]


class RecordWrite(msgspec.Struct, frozen=True):
    """Somebody who is no superuser makes, changes or deletes a record.

    `before` is the stored record (None: it is new), `after` what it will be (None: it is deleted).
    """

    work: Work
    resource: Resource[Any]
    caller: ApiCaller
    permissions: frozenset[str]
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    draft: RecordDraft[Any] | None = None

    @property
    def is_new(self) -> bool:
        return self.before is None

    @property
    def states(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(one for one in (self.before, self.after) if one is not None)

    def changes(self, name: str) -> bool:
        """Whether the value of a field is another afterwards; a deletion changes all of them."""
        return self.draft is None or self.draft.sets(name)

    def changes_besides(self, *names: str) -> bool:
        """Whether anything but these fields becomes another."""
        if self.draft is None or self.is_new:
            return True
        return any(self.draft.sets(name) for name in self.draft.values if name not in names)


Check = Callable[[RecordWrite], Awaitable[None]]


def refuse(words: str) -> NoReturn:
    raise Forbidden(words, extra={"code": "permission_denied"})
