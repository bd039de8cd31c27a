"""Browsers in which somebody has signed in, remembered in a sealed cookie.

It gives no access; it only keeps its owner from waiting because of others who guess.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

import msgspec

from kith.base.clocks import is_recent
from kith.base.cookies import carried_cookie
from kith.base.exchange import Exchange
from kith.base.sealing import Sealer

COOKIE = "kith_device"
KEPT = timedelta(days=365)
MOST = 8
MOST_CHARACTERS = 4096
_PLACE = "cookie.device"


class KnownBrowser(msgspec.Struct, array_like=True):
    user_id: int
    device_id: str
    at: datetime


def find(exchange: Exchange, user_id: int, now: datetime) -> str | None:
    """The name under which this browser is known for this person, if it is."""
    for device in _read(exchange):
        if device.user_id == user_id and is_recent(device.at, now, KEPT):
            return device.device_id
    return None


def any_name(exchange: Exchange, now: datetime) -> str:
    """A name of this browser, for whomever it is known; empty if it is for nobody."""
    return next((one.device_id for one in _read(exchange) if is_recent(one.at, now, KEPT)), "")


def is_one(exchange: Exchange) -> bool:
    """Whether somebody has signed in in this browser before, whoever that was."""
    return bool(any_name(exchange, exchange.server.works.clock()))


def remember(exchange: Exchange, user_id: int, now: datetime, *, secure: bool) -> None:
    """Set the cookie, which holds the last few people who have signed in in this browser."""
    known = _read(exchange)
    kept = next((one.device_id for one in known if one.user_id == user_id), None)
    others = [one for one in known if one.user_id != user_id]
    devices = [KnownBrowser(user_id, kept or secrets.token_urlsafe(12), now), *others][:MOST]
    exchange.scope[COOKIE] = devices
    sealed = exchange.find(Sealer).seal(msgspec.json.encode(devices).decode(), _PLACE)
    flags = f"Path=/; HttpOnly; SameSite=Lax; Max-Age={int(KEPT.total_seconds())}{'; Secure' if secure else ''}"
    set_before = [one for one in exchange.cookies if not one.startswith(f"{COOKIE}=".encode())]
    exchange.cookies[:] = [*set_before, f"{COOKIE}={sealed}; {flags}".encode()]


def _read(exchange: Exchange) -> list[KnownBrowser]:
    """A cookie that was set earlier in this request comes before the one that was sent."""
    left: list[KnownBrowser] | None = exchange.scope.get(COOKIE)
    if left is not None:
        return left
    sent = carried_cookie(exchange, COOKIE)
    if not sent or len(sent) > MOST_CHARACTERS:
        return []
    try:
        return msgspec.json.decode(exchange.find(Sealer).open(sent, _PLACE), type=list[KnownBrowser])
    except ValueError:
        return []
