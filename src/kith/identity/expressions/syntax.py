"""The syntax check when an expression is saved. Nothing is run."""

from __future__ import annotations

from kith.identity.expressions.source import MOST_BYTES


def complain(body: str) -> str | None:
    """What is wrong with `body`, with line and column as the author sees them; None if nothing.

    Another process parses it, so that no text can crash this one. Call it in a thread.
    """
    if len(body.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        return f"line 1, column 1: the expression is longer than {MOST_BYTES} bytes"
    from kith.identity.expressions.syntax_check import read  # noqa: PLC0415 - loaded when first used

    return read(body)
