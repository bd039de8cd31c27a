"""Running expressions: in other processes, for a tenth of a second, with no access but through the helpers."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from kith.base import asking
from kith.base.counted_log import log_counted
from kith.base.errors import Unavailable
from kith.base.places import Full, Places
from kith.identity.expressions.prelude import prelude_for
from kith.identity.expressions.source import FUNCTION, ExpressionSource
from kith.identity.expressions.values import ExpressionObject, ExpressionResult

if TYPE_CHECKING:
    from kith.identity.expressions.sandbox import Sandbox

__all__ = ["ExpressionObject", "ExpressionResult", "Expressions", "Helper"]

Helper = Callable[..., Awaitable[Any]]

PROCESSES = 4
HELP_SECONDS = 3.0
# An expression may have another policy asked, which may be an expression. Each level has threads of its own, so
# that those who wait never keep those they wait for from being run.
LEVELS = 3
# Those that ask name servers, or may do so by another policy, have threads apart: whoever has a name server answers as
# slowly as they like. A caller has a part of them, and so have all strangers.
LOOKUPS = 8
WAIT_SECONDS = 30.0
_EACH, _FOR_STRANGERS = 3, 6
_LOOKS_UP = ("resolve_dns", "reverse_dns", "call_policy")
_MOST_DEEP = 20


class Expressions:
    """Starts the sandbox's processes with the first expression, and stops them with the server."""

    def __init__(self, processes: int = PROCESSES) -> None:
        self._processes = processes
        self._threads = _threads_for("expression", processes)
        self._lookup_threads = _threads_for("lookup", LOOKUPS)
        self._lookups = Places("expression_lookups", most=LOOKUPS, each={"caller": _EACH}, strangers=_FOR_STRANGERS)
        self._opening = threading.Lock()
        self._sandbox: Sandbox | None = None

    async def run(
        self,
        body: str,
        variables: Mapping[str, Any],
        helpers: Mapping[str, Helper] | None = None,
        *,
        level: int = 0,
    ) -> ExpressionResult:
        """Run `body` with these names known to it. Whatever goes wrong is an outcome with an `error`.

        `helpers` are called on the loop with what the expression gives them: plain data both ways. In the sandbox
        `_give(...)` says what the next call of a helper, which has no arguments itself, is about. What a helper
        raises as `ValueError` is told to the expression. One whose name is nowhere in `body` is not offered, so that
        whoever reads the text knows what it can ask. A variable that has no proper name, or whose name begins with
        an underscore, is passed over.
        """
        if level >= LEVELS:
            return ExpressionResult(error="Policies call each other too deep.")
        inputs = {name: _closed(value) for name, value in variables.items() if _is_name(name)}
        opened = "".join(f"{name} = _opened({name})\n" for name in inputs)
        source = ExpressionSource(body, before=prelude_for(body) + opened, after=f"_tell({FUNCTION}())\n")
        loop = asyncio.get_running_loop()
        named = {name: helper for name, helper in (helpers or {}).items() if name.removeprefix("_") in body}
        looks_up = any(word in body for word in _LOOKS_UP)
        async with self._place(level, looks_up=looks_up):
            help_desk = _HelpDesk(loop, named)
            threads = (self._lookup_threads if looks_up else self._threads)[level]
            try:
                return await loop.run_in_executor(threads, self._run, source, inputs, help_desk.calls)
            finally:
                help_desk.close()

    @asynccontextmanager
    async def _place(self, level: int, *, looks_up: bool) -> AsyncIterator[None]:
        """One that another one asks has its place already."""
        if level or not looks_up:
            yield
            return
        try:
            place = await self._lookups.enter(
                seconds=WAIT_SECONDS, is_stranger=asking.is_for_a_stranger(), caller=asking.caller()
            )
        except Full as full:
            raise Unavailable from full
        try:
            yield
        finally:
            place.give_back()

    def _run(
        self, source: ExpressionSource, inputs: dict[str, Any], calls: Mapping[str, Callable[..., Any]]
    ) -> ExpressionResult:
        try:
            sandbox = self._opened()
        except (OSError, RuntimeError) as error:
            log_counted("warning", "expressions.unavailable", cause=str(error))
            return ExpressionResult(error="Expressions cannot be run at the moment.")
        return sandbox.run(source, inputs, calls)

    def _opened(self) -> Sandbox:
        with self._opening:
            if self._sandbox is None:
                from kith.identity.expressions.sandbox import Sandbox  # noqa: PLC0415 - loaded when first used

                self._sandbox = Sandbox((self._processes + LOOKUPS) * LEVELS)
            return self._sandbox

    def close(self) -> None:
        for threads in (*self._threads, *self._lookup_threads):
            threads.shutdown(cancel_futures=True)
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None


def _threads_for(name: str, count: int) -> list[ThreadPoolExecutor]:
    return [ThreadPoolExecutor(count, thread_name_prefix=f"{name}{level}") for level in range(LEVELS)]


class _HelpDesk:
    """Passes calls of helpers from the expression's thread to the event loop and back, for a few seconds in all."""

    def __init__(self, loop: asyncio.AbstractEventLoop, helpers: Mapping[str, Helper]) -> None:
        self._loop = loop
        self._until = time.monotonic() + HELP_SECONDS
        self._asked: Future[Any] | None = None
        self._is_closed = False
        self.calls = {name: self._caller(helper) for name, helper in helpers.items()}

    def close(self) -> None:
        """Cancel helpers that still run once the expression is over."""
        self._is_closed = True
        if self._asked is not None:
            self._asked.cancel()

    def _caller(self, helper: Helper) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            left = self._until - time.monotonic()
            if self._is_closed or left <= 0:
                raise TimeoutError
            asked = self._asked = asyncio.run_coroutine_threadsafe(_answer(helper, given), self._loop)
            try:
                return asked.result(left)
            except TimeoutError:
                asked.cancel()
                raise

        return call


async def _answer(helper: Helper, given: tuple[Any, ...]) -> Any:
    try:
        return _closed(await helper(*given))
    except ValueError:
        raise
    except Full as full:  # no answer is none: it must not be taken for "there is no such name"
        raise RuntimeError("this cannot be asked at the moment") from full
    except Exception as error:
        log_counted("error", "expressions.helper", error=error)
        raise RuntimeError("this cannot be asked at the moment") from error


def _is_name(name: str) -> bool:
    return name.isidentifier() and name.isascii() and not name.startswith("_")


def _closed(value: Any, depth: int = 0) -> Any:
    """A value as the sandbox accepts it: plain data; objects become tuples, which plain data does not have."""
    if value is None or isinstance(value, (str, int, float, datetime, date)):
        return value
    if depth > _MOST_DEEP:
        return str(value)[:1000]
    if isinstance(value, Mapping):
        plain = {str(name): _closed(item, depth + 1) for name, item in value.items()}
        return (plain,) if isinstance(value, ExpressionObject) else plain
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_closed(item, depth + 1) for item in value]
    return str(value)
