"""Refusals: whoever is denied something gets a short code, and staff find the reasons by it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from kith.base.errors import Throttled
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.work import Work
from kith.identity.audit.service import masked
from kith.identity.policies.request import PolicyRequest, PolicyVerdict
from kith.identity.policies.verdict_report import explain
from kith.identity.refusals import store
from kith.identity.refusals.tables import Refusal
from kith.identity.users.tables import User

# No letter or digit that is taken for another when it is read aloud or copied by hand.
LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 8
MOST_KEPT = 50_000
MOST_BYTES = 16 << 10
BY_ADDRESS = LimitRule("refusals", most=120, seconds=300)
# How long a text and how many members a list may be; the first pair with which all of it fits is taken.
_SIZES = ((2000, 200), (500, 50), (100, 20), (40, 5))


def new_code() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def shown(code: str) -> str:
    """The code as it is shown: K7QF-2MXD."""
    return f"{code[:4]}-{code[4:]}"


def read_code(text: str) -> str:
    """The code in its normal form, from whatever was typed."""
    return "".join(letter for letter in text.upper() if letter.isascii() and letter.isalnum())[:16]


async def refuse(
    work: Work,
    *,
    area: str,
    message: str,
    reason: str,
    details: Mapping[str, Any] | None = None,
    target: str | None = None,
    user: User | None = None,
) -> str:
    """Store a refusal and return its code as it is shown.

    It is stored in `work`; if that may be rolled back, pass one from `work.aside()`. `details` must not hold secrets;
    `masked` hides most by their names. Whoever was refused too often gets an empty code, and nothing is stored.
    """
    origin = work.origin
    try:
        work.find(Limiter).spend(BY_ADDRESS, address_key(origin.address))
    except Throttled:
        return ""
    refusal = Refusal(
        code="",
        user_id=user.id if user is not None else None,
        username=user.username if user is not None else "",
        area=_cut(area, 60),
        target=target,
        message=_cut(message, 2000),
        reason=_cut(reason, 2000),
        details=fitting(details or {}),
        client_ip=origin.address,
        request_id=origin.request_id,
        created_at=work.now,
        expires_at=work.now + timedelta(days=work.settings.events_days),
    )
    while True:
        refusal.code = new_code()
        if await store.add(work.db, refusal):
            return shown(refusal.code)


async def refuse_by_policy(
    work: Work,
    verdict: PolicyVerdict,
    request: PolicyRequest,
    *,
    area: str,
    message: str,
    details: Mapping[str, Any] | None = None,
) -> str:
    """The same for a verdict, with the results of its policies and their context."""
    told = {**(details or {}), "policies": await explain(work, verdict), "inputs": masked(request.context)}
    return await refuse(
        work,
        area=area,
        message=message,
        reason="Policies refused.",
        details=told,
        target=request.target,
        user=request.person.user if request.person is not None else None,
    )


async def find(work: Work, text: str) -> Refusal | None:
    code = read_code(text)
    return await store.find(work.db, code) if len(code) == LENGTH else None


def fitting(details: Mapping[str, Any]) -> dict[str, Any]:
    """`details`, shortened to what may be stored."""
    for letters, members in _SIZES:
        cut: dict[str, Any] = _smaller(details, letters, members)
        if len(msgspec.json.encode(cut)) <= MOST_BYTES:
            return cut
    return {"cut": "There was too much to keep."}


def _smaller(value: Any, letters: int, members: int) -> Any:
    if isinstance(value, str):
        return _cut(value, letters)
    if isinstance(value, Mapping):
        pairs = list(value.items())[:members]
        return {_cut(str(name), letters): _smaller(one, letters, members) for name, one in pairs}
    if isinstance(value, list | tuple):
        return [_smaller(one, letters, members) for one in value[:members]]
    return value


def _cut(text: str, letters: int) -> str:
    text = text.replace("\0", "")
    return text if len(text) <= letters else f"{text[: letters - 1]}…"
