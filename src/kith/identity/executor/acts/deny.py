"""Ends the walk, with a word why."""

from __future__ import annotations

from typing import Any

from kith.identity.stages.turn import Act, Denied, Outcome, Turn


async def show(turn: Turn) -> Outcome:
    words = turn.context.get("deny_message") or turn.stage.get("deny_message") or "You may not go on."
    return Denied(str(words), f"stage {turn.stage['name']}")


async def take(turn: Turn, _answer: dict[str, Any]) -> Outcome:
    return await show(turn)


ACT = Act("deny", show, take)
