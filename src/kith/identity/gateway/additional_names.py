"""Names of headers that people and groups have of their own (`additionalHeaders`), kept in memory.

Applications take them for the gateway's word, so nobody else may send them: neither somebody who has none of them, nor
a stranger, nor in another spelling.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Column, Text, and_, cast, select

from kith.base.counted_log import log_counted
from kith.base.db import any_of, query
from kith.base.work import Work
from kith.identity.gateway.headers import Pairs, additional, plain_name
from kith.identity.groups.facts import GroupChanged
from kith.identity.groups.tables import groups
from kith.identity.users.service import UserChanged, UserCreated
from kith.identity.users.tables import users

__all__ = ["MOST_NAMES", "AdditionalNames"]

MOST_NAMES = 100  # each is looked for in every request, and named in answers to other proxies
MOST_CHANGED = 1000  # people who are remembered until the next request
KEPT_SECONDS = 600.0  # after which names are forgotten that nobody has any more
# Browsers and programs send these by themselves, so no application can take them for the gateway's word.
_COMMON = frozenset(
    (
        b"accept", b"accept-charset", b"accept-encoding", b"accept-language", b"authorization", b"cache-control",
        b"content-encoding", b"content-language", b"content-type", b"date", b"dnt", b"if-match", b"if-modified-since",
        b"if-none-match", b"if-range", b"if-unmodified-since", b"origin", b"pragma", b"range", b"referer",
        b"sec-websocket-extensions", b"sec-websocket-key", b"sec-websocket-protocol", b"sec-websocket-version",
        b"user-agent", b"x-requested-with",
    )
)  # fmt: skip


def _has_some(column: Column[Any]) -> Any:
    return cast(column, Text).like("%additionalHeaders%")


_of_groups = query(
    select(groups.c.attributes).where(_has_some(groups.c.attributes)).order_by(groups.c.group_uuid), dict
)
_of_people = query(select(users.c.attributes).where(_has_some(users.c.attributes)).order_by(users.c.id), dict)
_of_some = query(select(users.c.attributes).where(and_(any_of(users.c.id, "ids"), _has_some(users.c.attributes))), dict)


class AdditionalNames:
    def __init__(self) -> None:
        self.plain: frozenset[bytes] = frozenset()
        self._names: frozenset[bytes] = frozenset()
        self._people: set[int] = set()
        self._are_groups_read = False
        self._read_at = -1e9

    def note(self, fact: GroupChanged | UserChanged | UserCreated) -> None:
        """Something changed that is read before the next request."""
        if isinstance(fact, GroupChanged):
            self._are_groups_read = False
        elif len(self._people) < MOST_CHANGED:
            self._people.add(fact.user_id)
        else:
            self._read_at = -1e9  # so many, that all are read again

    async def refresh(self, work: Work) -> None:
        read_at, self._read_at = self._read_at, -1e9  # if this fails, all is read again
        people, self._people = self._people, set()
        are_groups_read, self._are_groups_read = self._are_groups_read, True
        found: list[dict[str, Any]] = []
        if time.monotonic() - read_at >= KEPT_SECONDS:
            read_at = time.monotonic()
            found = [*await work.db.all(_of_groups), *await work.db.slow(_of_people)]
            self.plain = self._names = frozenset()
        else:
            if not are_groups_read:
                found += await work.db.all(_of_groups)
            if people:
                found += await work.db.all(_of_some, ids=sorted(people))
        for attributes in found:
            self.learn(additional(attributes))
        self._read_at = read_at

    def learn(self, pairs: Pairs) -> Pairs:
        """Those that somebody may have: nobody is given a header that others could send as well."""
        return tuple(pair for pair in pairs if self._holds(pair[0]))

    def _holds(self, name: bytes) -> bool:
        plain = plain_name(name)
        if name in self._names or plain in _COMMON:
            return True
        if len(self._names) >= MOST_NAMES:
            log_counted("warning", "gateway.too_many_additional_headers", name=name.decode(), most=MOST_NAMES)
            return False
        self._names |= {name}
        self.plain |= {plain}
        return True

    def empty_beside(self, told: Iterable[tuple[bytes, bytes]]) -> Pairs:
        """For proxies that copy headers: in the place of what a browser may have made up."""
        there = {name for name, _ in told}
        return tuple((name, b"") for name in sorted(self._names) if name not in there)
