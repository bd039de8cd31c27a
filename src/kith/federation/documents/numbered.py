"""The same addresses by number: people who came from a Mastodon server may be known to others as `/ap/users/ID`."""

from __future__ import annotations

from typing import Any

from kith.base.errors import NotFound
from kith.base.exchange import Exchange
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId
from kith.social.representations import without_ending

__all__ = ["also_by_number"]

PREFIX = "/ap"
MOST_DIGITS = 19


def also_by_number(template: str, *, or_as_json: bool = False) -> dict[str, Any]:
    """For a route at `/users/{name}...`: it answers at `/ap/users/ID...` too, and at both with `.json` at the end."""
    guards = [without_ending, _name_by_number] if or_as_json else [_name_by_number]
    return {"aliases": (PREFIX + template,), "guards": guards}


async def _name_by_number(exchange: Exchange) -> None:
    if not exchange.path.startswith(f"{PREFIX}/"):
        return
    number, *rest = exchange.path_values
    is_number = number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS and int(number) < 1 << 63
    found = await accounts.find(exchange.work.db, AccountId(int(number))) if is_number else None
    if found is None or not found.is_local:
        raise NotFound
    exchange.path_values = (found.username, *rest)
