"""The interpreter and its processes. Loaded with the first expression, because it takes some megabytes.

It is called from threads: its own asyncio interface can crash the server while it shuts down.

No value of an expression is ever taken out of the interpreter: only text, of a length that we measure. A tuple that
holds another one twice, and so on forty times, is small there; as the key of a dictionary here it would be hashed for
hours, with the whole server waiting. So an expression prints what it asks and what it returns, as JSON (`prelude.py`),
and the arguments of calls are never looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from typing import Any

import msgspec
from pydantic_monty import (
    Frame,
    FunctionSnapshot,
    Monty,
    MontyComplete,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
)

from kith.base.counted_log import log_counted
from kith.identity.expressions.source import ExpressionSource
from kith.identity.expressions.values import ExpressionResult

SECONDS = 0.1
LOG_BYTES = 4096
MOST_TEXT = 65_536  # characters of a question or a result
_LIMITS = {
    "max_feed_duration_secs": SECONDS,
    "max_memory": 16 << 20,
    "max_recursion_depth": 100,
    "max_suspensions": 50,
}
_read_result = msgspec.json.Decoder(tuple[Any, list[str]]).decode
_read_question = msgspec.json.Decoder(list[Any]).decode


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
        printed = _Printed()
        try:
            checkout = self._pool.checkout(limits=_LIMITS, os_policy={"sleep": "zero"})  # type: ignore[arg-type]
            with checkout as session:
                step = session.feed_start(source.text, inputs=dict(inputs), print_callback=printed)
                while not isinstance(step, MontyComplete):
                    if not isinstance(step, FunctionSnapshot):
                        step = step.resume_auto()
                    elif step.is_os_function:
                        step = step.resume_not_handled()
                    else:
                        step = step.resume(_answer(helpers, step.function_name, printed.text()))
            value, messages = _read_result(printed.text())
        except MontyRuntimeError as error:
            return ExpressionResult(log=_lines(printed), error=_in_words(source, error))
        except MontyCrashedError:
            return ExpressionResult(log=_lines(printed), error="The expression took too long.")
        except (MontyError, msgspec.DecodeError, TypeError) as error:
            return ExpressionResult(log=_lines(printed), error=f"The expression could not be run: {str(error)[:300]}")
        except (OSError, RuntimeError) as error:
            log_counted("warning", "expressions.unavailable", cause=str(error))
            return ExpressionResult(log=_lines(printed), error="Expressions cannot be run at the moment.")
        return ExpressionResult(value=value, messages=messages, log=_lines(printed))


class _Printed:
    """What an expression prints: on one stream for its author, on the other for us."""

    def __init__(self) -> None:
        self.log = ""
        self._text = ""

    def __call__(self, stream: str, words: str) -> None:
        if stream == "stderr":
            self._text = self._within(self._text + words, MOST_TEXT + 2)
        else:
            self.log = self._within(self.log + words, LOG_BYTES)

    def _within(self, words: str, most: int) -> str:
        if len(words) > most:
            raise MemoryError
        return words

    def text(self) -> str:
        """The last line for us since the last time."""
        lines, self._text = self._text.splitlines(), ""
        return lines[-1] if lines else ""


def _answer(helpers: Mapping[str, Callable[..., Any]], name: str, question: str) -> Any:
    helper = helpers.get(name)
    try:
        if helper is None:
            raise NameError(f"name {name!r} is not defined")
        return {"return_value": helper(*_read_question(question))}
    except msgspec.DecodeError:
        return {"exception": ValueError("a helper is called by its plain name")}
    except (NameError, ValueError, TypeError, RuntimeError, TimeoutError, CancelledError) as error:
        return {"exception": error}


def _lines(printed: _Printed) -> list[str]:
    return printed.log.splitlines()


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
