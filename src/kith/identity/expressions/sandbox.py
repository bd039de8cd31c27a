"""The interpreter and its processes. Loaded with the first expression, because it takes some megabytes.

It is called from threads: its own asyncio interface can crash the server while it shuts down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import structlog
from pydantic_monty import CollectString, Frame, Monty, MontyCrashedError, MontyError, MontyRuntimeError

from kith.identity.expressions.source import ExpressionSource
from kith.identity.expressions.values import ExpressionResult

SECONDS = 0.1
LOG_BYTES = 4096
_LIMITS = {
    "max_feed_duration_secs": SECONDS,
    "max_memory": 16 << 20,
    "max_recursion_depth": 100,
    "max_suspensions": 50,
}
_log = structlog.get_logger()
_decode = msgspec.json.Decoder(tuple[Any, list[str]]).decode


class Sandbox:
    def __init__(self, processes: int) -> None:
        pool = Monty(
            min_processes=1,
            max_processes=processes,
            checkout_timeout=2,
            request_timeout=2,
            feed_duration_limit_grace=0.2,
        )
        self._pool = pool.__enter__()

    def close(self) -> None:
        self._pool.__exit__(None, None, None)

    def run(
        self, source: ExpressionSource, inputs: Mapping[str, Any], helpers: Mapping[str, Callable[..., Any]]
    ) -> ExpressionResult:
        printed = CollectString(max_bytes=LOG_BYTES)
        try:
            checkout = self._pool.checkout(limits=_LIMITS, os_policy={"sleep": "zero"})  # type: ignore[arg-type]
            with checkout as session:
                told = session.feed_run(
                    source.text, inputs=dict(inputs), external_lookup=dict(helpers), print_callback=printed
                )
            value, messages = _decode(told)
        except MontyRuntimeError as error:
            return ExpressionResult(log=_lines(printed), error=_in_words(source, error))
        except MontyCrashedError:
            return ExpressionResult(log=_lines(printed), error="The expression took too long.")
        except (MontyError, msgspec.DecodeError, TypeError) as error:
            return ExpressionResult(log=_lines(printed), error=f"The expression could not be run: {str(error)[:300]}")
        except (OSError, RuntimeError) as error:
            _log.warning("expressions.unavailable", error=str(error))
            return ExpressionResult(log=_lines(printed), error="Expressions cannot be run at the moment.")
        return ExpressionResult(value=value, messages=messages, log=_lines(printed))


def _lines(printed: CollectString) -> list[str]:
    return printed.output.splitlines()


def _in_words(source: ExpressionSource, error: MontyRuntimeError) -> str:
    match error.exception():
        case TimeoutError():
            return "The expression took too long."
        case MemoryError():
            return "The expression needed too much memory, or printed too much."
        case RecursionError():
            return "The expression called itself too often."
    return f"{_where(source, error.traceback())}{str(error)[:500]}"


def _where(source: ExpressionSource, frames: list[Frame]) -> str:
    lines = [frame.line for frame in frames if source.holds(frame.line)]
    return f"line {source.place(lines[-1], 1)[0]}: " if lines else ""
