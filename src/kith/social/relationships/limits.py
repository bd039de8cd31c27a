"""How often somebody may start to follow, people or tags."""

from __future__ import annotations

from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule

FOLLOWS = LimitRule("follows", most=400, seconds=86_400)


async def not_too_many(exchange: Exchange) -> None:
    """A guard, after the one that tells who is calling. The answer tells the limit that is nearest."""
    spent = exchange.find(Limiter).spend(FOLLOWS, str(exchange.user_id))
    if spent is not None and (exchange.spent is None or spent.remaining < exchange.spent.remaining):
        exchange.spent = spent
