"""A sealed cookie that remembers who has signed in in this browser, and with which second factor.

A mark counts for one person, for a limited time, and until their password changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

import msgspec

from kith.base.clocks import is_recent
from kith.base.cookies import carried_cookie
from kith.base.exchange import Exchange
from kith.base.sealing import Sealer
from kith.identity.stages.turn import Turn
from kith.identity.users.tables import User

COOKIE = "kith_marks"
MOST = 8
KEPT = timedelta(days=30)
_PLACE = "cookie.marks"
What = Literal["device", "factor"]


class Mark(msgspec.Struct, array_like=True):
    """`device`: the person has signed in here. `factor`: with this second factor."""

    what: What
    user_id: int
    factor: str
    password: str
    at: datetime


def carried(exchange: Exchange, name: str) -> str:
    return carried_cookie(exchange, name)


def hand_out(turn: Turn[Any], name: str, value: str, life: timedelta) -> None:
    """Set a cookie with the answer."""
    secure = "; Secure" if turn.work.settings.base_url.startswith("https") else ""
    cookie = f"{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={int(life.total_seconds())}{secure}".encode()
    kept = [one for one in turn.exchange.cookies if not one.startswith(f"{name}=".encode())]
    turn.exchange.cookies[:] = [*kept, cookie]


def has(turn: Turn[Any], user: User, what: What, seconds: float, factors: Sequence[str] = ("",)) -> str | None:
    """The first of `factors` with a mark that is not older than `seconds`."""
    within = timedelta(seconds=seconds)
    for mark in _read(turn):
        mine = (mark.what, mark.user_id, mark.password) == (what, user.id, _password_of(user))
        if mine and is_recent(mark.at, turn.work.now, within) and mark.factor in factors:
            return mark.factor
    return None


def leave(turn: Turn[Any], user: User, what: What, factor: str = "") -> None:
    mine = Mark(what, user.id, factor, _password_of(user), turn.work.now)
    others = [one for one in _read(turn) if (one.what, one.user_id, one.factor) != (what, user.id, factor)]
    marks = [mine, *others][:MOST]
    turn.exchange.scope[COOKIE] = marks
    sealed = turn.work.find(Sealer).seal(msgspec.json.encode(marks).decode(), _PLACE)
    hand_out(turn, COOKIE, sealed, KEPT)


def _password_of(user: User) -> str:
    return str(user.password_changed_at or "")


def _read(turn: Turn[Any]) -> list[Mark]:
    """Marks set earlier in this request come before those in the cookie."""
    left: list[Mark] | None = turn.exchange.scope.get(COOKIE)
    if left is not None:
        return left
    sent = carried(turn.exchange, COOKIE)
    if not sent or len(sent) > 4096:
        return []
    try:
        return msgspec.json.decode(turn.work.find(Sealer).open(sent, _PLACE), type=list[Mark])
    except ValueError:
        return []
