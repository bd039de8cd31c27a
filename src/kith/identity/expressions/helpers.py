"""Functions that an expression can call on the server. Each uses a work of its own.

None of them sends mail, signs tokens or calls other servers, because anybody can cause an expression to run.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from kith.base.http.names import Names
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.expressions import subjects
from kith.identity.expressions.run import Helper
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.factors import store as factors

MOST_EVENTS = 5
MOST_EVENT_BYTES = 8192
_ACTION = re.compile(r"[a-z0-9][a-z0-9_]{0,49}")


def helpers_for(work: Work, person: PolicySubject | None, *, is_test: bool = False) -> dict[str, Helper]:
    """The helpers by the names under which the prelude calls them."""
    desk = _Desk(work, person, is_test=is_test)
    return {
        "_user_by": desk.user_by,
        "_user_has_authenticator": desk.user_has_authenticator,
        "_create_event": desk.create_event,
        "_resolve_dns": desk.resolve_dns,
        "_reverse_dns": desk.reverse_dns,
    }


class _Desk:
    def __init__(self, work: Work, person: PolicySubject | None, *, is_test: bool) -> None:
        self._work = work
        self._person = person
        self._is_test = is_test
        self._events = 0

    async def user_by(self, filters: dict[str, Any]) -> Any:
        async with self._work.aside() as aside:
            found = await subjects.find_by(aside, filters)
        return found.facts if found else None

    async def user_has_authenticator(self, user_id: Any, kind: Any) -> bool:
        if not isinstance(user_id, int):
            return False
        async with self._work.aside() as aside:
            devices = await factors.of_user(aside.db, user_id)
        return any(kind in (None, device.kind) for device in devices)

    async def create_event(self, action: str, context: dict[str, Any]) -> None:
        """Written at once, even if the request fails; a test writes none."""
        name = action.lower().replace("-", "_").removeprefix("custom_")
        if not _ACTION.fullmatch(name):
            raise ValueError("an event is named by up to 50 letters, digits and underscores")
        if len(msgspec.json.encode(context)) > MOST_EVENT_BYTES:
            raise ValueError(f"an event holds no more than {MOST_EVENT_BYTES} bytes")
        self._events += 1
        if self._events > MOST_EVENTS:
            raise ValueError(f"an expression makes no more than {MOST_EVENTS} events")
        if self._is_test:
            return
        user = self._person.user if self._person else None
        async with self._work.aside() as aside:
            await audit.record(
                aside,
                f"custom_{name}",
                "expressions",
                user_id=user.id if user else None,
                username=user.username if user else "",
                context=context,
            )

    async def resolve_dns(self, host: str, version: Any) -> list[str]:
        if version not in (None, 4, 6):
            raise ValueError("ip_version is 4, 6 or None")
        return await self._work.find(Names).resolve(host, version)

    async def reverse_dns(self, address: str) -> str:
        return await self._work.find(Names).reverse(address) or address
