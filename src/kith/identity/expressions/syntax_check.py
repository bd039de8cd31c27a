"""Parsing an expression without running it. Loaded with the first that is saved, as it loads the interpreter."""

from __future__ import annotations

import re

from pydantic_monty import Frame, Monty, MontyCrashedError, MontyError, MontyRuntimeError, MontySyntaxError

from kith.identity.expressions.source import ExpressionSource

# The interpreter parses the whole text before it runs; this line stops it right at the start.
_READ = "the whole text was read"
_STOP = f"raise NotImplementedError({_READ!r})\n"
_LIMITS = {"max_feed_duration_secs": 0.1, "max_memory": 32 << 20, "max_recursion_depth": 10, "max_suspensions": 1}
_GAP = re.compile(r"(?:NotImplementedError: )?The monty syntax parser does not yet support (?P<what>.+)", re.DOTALL)
_HINTS = {"yield expressions": "yield expressions (return a list instead)"}


def read(body: str) -> str | None:
    """What is wrong with `body`; None if nothing."""
    source = ExpressionSource(body, before=_STOP)
    try:
        with (
            Monty(min_processes=1, max_processes=1, request_timeout=2, feed_duration_limit_grace=0.2) as pool,
            pool.checkout(limits=_LIMITS) as session,  # type: ignore[arg-type]
        ):
            session.feed_run(source.text)
    except MontySyntaxError as error:
        return _placed(source, error.traceback(), str(error))
    except MontyRuntimeError as error:
        return None if error.display("msg") == _READ else _refusal(source, error)
    except MontyCrashedError:
        return "line 1, column 1: the expression is too large or too deeply nested"
    except (MontyError, OSError, RuntimeError) as error:
        return f"line 1, column 1: the expression could not be checked ({type(error).__name__})"
    return "line 1, column 1: the expression could not be checked"


def _refusal(source: ExpressionSource, error: MontyRuntimeError) -> str:
    if isinstance(error.exception(), (MemoryError, TimeoutError, RecursionError)):
        return "line 1, column 1: the expression is too large or too deeply nested"
    gap = _GAP.match(str(error))
    if gap is None:
        return _placed(source, error.traceback(), error.display("msg"))
    return _placed(source, error.traceback(), f"not available here: {_HINTS.get(gap['what'], gap['what'])}")


def _placed(source: ExpressionSource, frames: list[Frame], words: str) -> str:
    line, column = source.place(frames[-1].line, frames[-1].column) if frames else (1, 1)
    shown = "".join(letter if letter.isprintable() else "�" for letter in words[:300])
    return f"line {line}, column {column}: {shown}"
