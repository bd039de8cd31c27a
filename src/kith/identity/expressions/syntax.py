"""Whether an expression can be read at all, told when it is saved. Nothing of it is run."""

from __future__ import annotations

from kith.identity.expressions.source import MOST_BYTES


def complain(body: str) -> str | None:
    """What is wrong with `body`, beginning with the line and column where its author sees it; None if nothing.

    A process of its own does the reading, in a few milliseconds: no text can take this one down with it. Call
    it beside the loop.
    """
    if len(body.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        return f"line 1, column 1: the expression is longer than {MOST_BYTES} bytes"
    from kith.identity.expressions.syntax_check import read  # noqa: PLC0415 - loaded when first used

    return read(body)
