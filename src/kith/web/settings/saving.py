"""Forms of the settings that are sent on to our own API: saved and said so, or shown again with what is wrong."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from kith.base.errors import Problem
from kith.base.exchange import Answer, Exchange
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.pages import see_other
from kith.web.settings.forms import text_field
from kith.web.translation import translatable

__all__ = ["SAVED", "is_ticked", "number_of", "refusal", "saved", "texts_of"]

SAVED = translatable("Saved.")


async def refusal(exchange: Exchange, change: Awaitable[object]) -> str:
    """What is wrong, in words, where the change was refused; nothing has changed then. Empty if it was made."""
    try:
        await change
    except Problem as problem:
        words = own_api.words_of(exchange, problem)
        await exchange.end_work(commit=False)
        return words
    return ""


async def saved(exchange: Exchange, visitor: identity.Visitor, to: str, words: str = SAVED) -> Answer:
    """Back to the page, which says once that it was done."""
    await identity.leave_message(exchange.work, visitor.user.id, words, "success")
    return see_other(to)


def is_ticked(form: dict[str, Any], name: str) -> bool:
    return form.get(name) == "true"


def texts_of(form: dict[str, Any], name: str) -> list[str]:
    """What was sent under `name[]`."""
    given = form.get(name, [])
    given = given if isinstance(given, list) else [given]
    return [one.replace("\0", "").strip() for one in given if isinstance(one, str)]


def number_of(form: dict[str, Any], name: str) -> int | None:
    text = text_field(form, name)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
