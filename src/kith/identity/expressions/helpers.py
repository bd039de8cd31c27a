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
from kith.identity.audit.hidden_attributes import hidden_attributes
from kith.identity.expressions import subjects
from kith.identity.expressions.drafts import LOOKS_UP_REFUSED
from kith.identity.expressions.hidden import hide
from kith.identity.expressions.run import Helper
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.factors import store as factors
from kith.identity.groups import store as groups
from kith.identity.rest.fields import read_uuid

MOST_EVENTS = 5
MOST_EVENT_BYTES = 8192
_ACTION = re.compile(r"[a-z0-9][a-z0-9_]{0,49}")


class MissingGroups(msgspec.Struct):
    """Groups that an expression asks for and that are not there: deleted, or called something else now.

    `supposed` is the answer it gets, whether somebody is a member of one.
    """

    supposed: bool = False
    found: list[str] = []


def helpers_for(
    work: Work,
    person: PolicySubject | None,
    *,
    is_test: bool = False,
    missing: MissingGroups | None = None,
    hidden: frozenset[str] = frozenset(),
    looks_up: bool = True,
) -> dict[str, Helper]:
    """The helpers by the names under which the prelude calls them; events do not tell what is `hidden`.

    `looks_up`: whether it may ask for other people and for hosts, which whoever tries an expression may not.
    """
    desk = _Desk(work, person, is_test=is_test, missing=missing, hidden=hidden, looks_up=looks_up)
    return {
        "_is_group_member": desk.is_in_missing_group,
        "_user_by": desk.user_by,
        "_user_has_authenticator": desk.user_has_authenticator,
        "_create_event": desk.create_event,
        "_resolve_dns": desk.resolve_dns,
        "_reverse_dns": desk.reverse_dns,
    }


class _Desk:
    def __init__(
        self,
        work: Work,
        person: PolicySubject | None,
        *,
        is_test: bool,
        missing: MissingGroups | None,
        hidden: frozenset[str],
        looks_up: bool,
    ) -> None:
        self._work = work
        self._person = person
        self._is_test = is_test
        self._events = 0
        self._missing = missing
        self._hidden = hidden
        self._looks_up = looks_up

    async def is_in_missing_group(self, filters: dict[str, Any]) -> bool:
        """False for a group that is there, of which the person is no member."""
        if self._missing is None or await self._is_there(filters):
            return False
        self._missing.found.append(str(next(iter(filters.values()), ""))[:80])
        return self._missing.supposed

    async def _is_there(self, filters: dict[str, Any]) -> bool:
        """Whether there is a group of this name or id; one that is asked for otherwise is taken to be there."""
        async with self._work.aside() as aside:
            if isinstance(name := filters.get("name"), str):
                return await groups.is_there(aside.db, name=name)
            if (id := filters.get("pk", filters.get("group_uuid"))) is not None:
                return await groups.is_there(aside.db, group_uuid=read_uuid(id))
        return True

    async def user_by(self, filters: dict[str, Any]) -> Any:
        self._check_looks_up()
        async with self._work.aside() as aside:
            found = await subjects.find_by(aside, filters)
            return found.facts(await hidden_attributes(aside)) if found else None

    async def user_has_authenticator(self, user_id: Any, kind: Any) -> bool:
        if not isinstance(user_id, int):
            return False
        if not self._looks_up and (self._person is None or self._person.user.id != user_id):
            raise ValueError(LOOKS_UP_REFUSED)
        async with self._work.aside() as aside:
            devices = await factors.of_user(aside.db, user_id)
        return any(kind in (None, device.kind) for device in devices)

    def _check_looks_up(self) -> None:
        if not self._looks_up:
            raise ValueError(LOOKS_UP_REFUSED)

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
                context=hide(context, self._hidden),
            )

    async def resolve_dns(self, host: str, version: Any) -> list[str]:
        self._check_looks_up()
        if version not in (None, 4, 6):
            raise ValueError("ip_version is 4, 6 or None")
        return await self._work.find(Names).resolve(host, version)

    async def reverse_dns(self, address: str) -> str:
        self._check_looks_up()
        return await self._work.find(Names).reverse(address) or address
