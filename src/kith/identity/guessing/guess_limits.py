"""Limits for guessing secrets: every try is counted before it is made, and given back when it was right.

Tries are limited by address, by the name that is typed, and by both together; an unknown name counts like a known one,
and a person's name and e-mail address count apart. From a
browser or address where the person has signed in before, only a limit of its own counts, so that nobody is locked out
of their account by others who guess.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta

from kith.base.clocks import is_recent
from kith.base.db import Session
from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule, Paid, Price, address_key
from kith.base.work import Work
from kith.identity.guessing import known_browsers, store
from kith.identity.users.names import typed_key

BY_ADDRESS = LimitRule("sign-in", most=25, seconds=300)
BY_NAME = LimitRule("sign-in-name", most=10, seconds=600)  # one name, from one address
BY_ACCOUNT = LimitRule("sign-in-account", most=20, seconds=600)  # one name, from anywhere
KNOWN_DEVICE = LimitRule("sign-in-device", most=10, seconds=600)
KNOWN_ADDRESS = LimitRule("sign-in-known", most=10, seconds=600)
KNOWN_CROWD = LimitRule("sign-in-crowd", most=100, seconds=300)  # all accounts that are known at one address
# Behind the address of an application or an access point that hands over passwords is everybody who uses it: one of
# them who guesses must not keep the others out.
BY_SHARED_ADDRESS = LimitRule("sign-in-shared", most=1000, seconds=300)
CODES = LimitRule("sign-in-codes", most=5, seconds=300)  # second factors, in a browser that is known
KEYS = LimitRule("sign-in-keys", most=25, seconds=300)  # passkeys that were refused, from one address
REMEMBER_EVERY = timedelta(days=1)


async def pay(exchange: Exchange, db: Session, user_id: int | None, typed: str, *, is_shared: bool = False) -> Paid:
    """Count a try of a password. It reads the database before it counts, so nothing may be written in `db` before.

    `is_shared`: the address is that of a program through which many people come.
    """
    prices = await _prices(exchange, db, user_id, typed)
    if is_shared:
        prices = [(BY_SHARED_ADDRESS if rule in (BY_ADDRESS, KNOWN_CROWD) else rule, who) for rule, who in prices]
    return await exchange.find(Limiter).pay(*prices)


async def _prices(exchange: Exchange, db: Session, user_id: int | None, typed: str) -> list[Price]:
    now, here = exchange.work.now, address_key(exchange.address)
    called = _called(typed)
    device = known_browsers.find(exchange, user_id or 0, now)
    last = await store.last_entered(db, user_id or 0, here)
    if device is not None:
        return [(KNOWN_DEVICE, f"{_account(user_id or 0)}:{device}")]
    if last is not None and is_recent(last, now, store.KEPT):
        return [(KNOWN_ADDRESS, f"{called}:{here}"), (KNOWN_CROWD, here)]
    return [(BY_ADDRESS, here), (BY_NAME, f"{called}:{here}"), (BY_ACCOUNT, called)]


def _account(user_id: int) -> str:
    return f"user {user_id}"


def _called(typed: str) -> str:
    """The key of what was typed: if name and address had one, using it up would tell that they are one person's."""
    return "name " + hashlib.sha256(typed_key(typed).encode("utf-8", "surrogatepass")).hexdigest()[:40]


async def pay_for_code(exchange: Exchange, user_id: int) -> Paid | None:
    """Count a try of a second factor in a known browser; None in an unknown one, where the factor itself makes wait."""
    device = known_browsers.find(exchange, user_id, exchange.work.now)
    if device is None:
        return None
    return await exchange.find(Limiter).pay((CODES, f"{_account(user_id)}:{device}"))


async def pay_for_key(exchange: Exchange) -> Paid:
    """Count a try of a passkey: only by address, because the account is not known before."""
    return await exchange.find(Limiter).pay((KEYS, address_key(exchange.address)))


async def entered(work: Work, exchange: Exchange, user_id: int, *, browser: bool = False) -> None:
    """Remember the address, and the browser if it is one, as known for the person who signed in."""
    here = address_key(exchange.address)
    last = await store.last_entered(work.db, user_id, here)
    if here and (last is None or last < work.now - REMEMBER_EVERY):
        await store.remember(work.db, user_id, here[:64], work.now)
    if browser:
        secure = work.settings.base_url.startswith("https")
        known_browsers.remember(exchange, user_id, work.now, secure=secure)


async def entered_by_program(work: Work, exchange: Exchange, user_id: int) -> None:
    """As `entered`, in a work of its own, for a request that only reads."""
    last = await store.last_entered(work.db, user_id, address_key(exchange.address))
    if last is None or last < work.now - REMEMBER_EVERY:
        async with work.aside() as aside:
            await entered(aside, exchange, user_id)
