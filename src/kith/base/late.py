"""Parts and subscriptions that are put in place when one is first asked for: a command that needs none loads none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kith.base.jobs.kinds import JobKind
from kith.base.news import Fact, Handler, News

__all__ = ["LateNews", "LateParts", "Once"]


class Once:
    """Calls a function the first time it is called itself, and never again."""

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self.is_done = False

    def __call__(self) -> None:
        if not self.is_done:
            self.is_done = True
            self._function()


class LateParts(dict[type, Any]):
    """The parts of a server by their type, made together when one of them is first asked for."""

    def __init__(self, furnish: Once) -> None:
        super().__init__()
        self._furnish = furnish

    def __missing__(self, kind: type) -> Any:
        if self._furnish.is_done:
            raise KeyError(kind)
        self._furnish()
        return self[kind]


class LateNews(News):
    """Who wants to know what is found out when there is something to tell."""

    def __init__(self, furnish: Once) -> None:
        super().__init__()
        self._furnish = furnish

    def kinds_for(self, fact: Fact) -> Sequence[JobKind[Any]]:
        self._furnish()
        return super().kinds_for(fact)

    def handlers_for(self, fact: Fact) -> Sequence[Handler]:
        self._furnish()
        return super().handlers_for(fact)
