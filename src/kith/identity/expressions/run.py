"""Running expressions: in processes of their own, for a tenth of a second, without a way out.

The interpreter is called from threads of ours. Its own asyncio front leaves threads behind that can take the
whole server down with them while it ends.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from typing import Any

import msgspec
import structlog
from pydantic_monty import CollectString, Frame, Monty, MontyCrashedError, MontyError, MontyRuntimeError

from kith.identity.expressions.prelude import PRELUDE
from kith.identity.expressions.source import FUNCTION, Source

SECONDS = 0.1
LOG_BYTES = 4096
PROCESSES = 4
_LIMITS = {
    "max_feed_duration_secs": SECONDS,
    "max_memory": 16 << 20,
    "max_recursion_depth": 100,
    "max_suspensions": 50,
}
_MOST_DEEP = 20
_log = structlog.get_logger()
_decode = msgspec.json.Decoder(tuple[Any, list[str]]).decode


class Facts(dict[str, Any]):
    """Something an expression may ask by attribute as well as by key: `user.name`, `user["name"]`."""


class Outcome(msgspec.Struct, frozen=True):
    """What an expression returned, said and printed; with an `error` there is no value."""

    value: Any = None
    messages: list[str] = []
    log: list[str] = []
    error: str | None = None


class Expressions:
    """The sandbox. Its processes start when the first expression is run and end with the server."""

    def __init__(self, processes: int = PROCESSES) -> None:
        self._processes = processes
        self._threads = ThreadPoolExecutor(processes, thread_name_prefix="expression")
        self._opening = threading.Lock()
        self._pool: Monty | None = None

    async def run(
        self,
        body: str,
        variables: Mapping[str, Any],
        helpers: Mapping[str, Callable[..., Any]] | None = None,
    ) -> Outcome:
        """Run `body` with these names known to it. Whatever goes wrong is an outcome with an `error`.

        `helpers` are called in a thread with what the expression gives them: plain data both ways. A name
        that is none, or begins with an underscore, is passed over.
        """
        inputs = {name: _closed(value) for name, value in variables.items() if _is_name(name)}
        opened = "".join(f"{name} = _opened({name})\n" for name in inputs)
        source = Source(body, before=PRELUDE + opened, after=f"_told({FUNCTION}())\n")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._run, source, inputs, dict(helpers or {}))

    def _run(self, source: Source, inputs: dict[str, Any], helpers: dict[str, Any]) -> Outcome:
        printed = CollectString(max_bytes=LOG_BYTES)
        try:
            checkout = self._opened().checkout(limits=_LIMITS, os_policy={"sleep": "zero"})  # type: ignore[arg-type]
            with checkout as session:
                told = session.feed_run(source.text, inputs=inputs, external_lookup=helpers, print_callback=printed)
            value, messages = _decode(told)
        except MontyRuntimeError as error:
            return Outcome(log=_lines(printed), error=_in_words(source, error))
        except MontyCrashedError:
            return Outcome(log=_lines(printed), error="The expression took too long.")
        except (MontyError, msgspec.DecodeError, TypeError) as error:
            return Outcome(log=_lines(printed), error=f"The expression could not be run: {str(error)[:300]}")
        except (OSError, RuntimeError) as error:
            _log.warning("expressions.unavailable", error=str(error))
            return Outcome(log=_lines(printed), error="Expressions cannot be run at the moment.")
        return Outcome(value=value, messages=messages, log=_lines(printed))

    def _opened(self) -> Monty:
        with self._opening:
            if self._pool is None:
                pool = Monty(
                    min_processes=1,
                    max_processes=self._processes,
                    checkout_timeout=2,
                    request_timeout=2,
                    feed_duration_limit_grace=0.2,
                )
                self._pool = pool.__enter__()
            return self._pool

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        if self._pool is not None:
            self._pool.__exit__(None, None, None)
            self._pool = None


def _is_name(name: str) -> bool:
    return name.isidentifier() and name.isascii() and not name.startswith("_")


def _closed(value: Any, depth: int = 0) -> Any:
    """As the sandbox takes it: plain data, and facts as a tuple, which plain data has none of."""
    if value is None or isinstance(value, (str, int, float, datetime, date)):
        return value
    if depth > _MOST_DEEP:
        return str(value)[:1000]
    if isinstance(value, Mapping):
        plain = {str(name): _closed(item, depth + 1) for name, item in value.items()}
        return (plain,) if isinstance(value, Facts) else plain
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_closed(item, depth + 1) for item in value]
    return str(value)


def _lines(printed: CollectString) -> list[str]:
    return printed.output.splitlines()


def _in_words(source: Source, error: MontyRuntimeError) -> str:
    match error.exception():
        case TimeoutError():
            return "The expression took too long."
        case MemoryError():
            return "The expression needed too much memory, or printed too much."
        case RecursionError():
            return "The expression called itself too often."
    return f"{_where(source, error.traceback())}{str(error)[:500]}"


def _where(source: Source, frames: list[Frame]) -> str:
    lines = [frame.line for frame in frames if source.holds(frame.line)]
    return f"line {source.place(lines[-1], 1)[0]}: " if lines else ""
