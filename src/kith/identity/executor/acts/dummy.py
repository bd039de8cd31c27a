"""Shows a page and goes on."""

from __future__ import annotations

from typing import Any

from kith.identity.stages.turn import PASSED, Act, Challenge, Outcome, Turn


async def show(turn: Turn) -> Outcome:
    return Challenge("dummy", {"name": turn.stage["name"]})


async def take(turn: Turn, _answer: dict[str, Any]) -> Outcome:
    if turn.stage.get("throw_error"):
        raise RuntimeError("a dummy stage was told to fail")
    return PASSED


ACT = Act("dummy", show, take)
