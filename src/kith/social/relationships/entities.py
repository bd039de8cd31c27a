"""What one account has to do with others, on the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from kith.base.work import Work
from kith.social.ids import AccountId
from kith.social.moments import maybe
from kith.social.relationships import store

_encode = msgspec.json.Encoder().encode


class Relationship(msgspec.Struct):
    """Every key is always told. `follow_state` is the older name of `following` and `showing_reblogs` together."""

    id: str
    following: bool = False
    follow_state: dict[str, bool] | bool = False
    showing_reblogs: bool = False
    notifying: bool = False
    languages: list[str] | None = None
    followed_by: bool = False
    blocking: bool = False
    blocked_by: bool = False
    muting: bool = False
    muting_notifications: bool = False
    muting_expires_at: str | None = None
    requested: bool = False
    requested_by: bool = False
    domain_blocking: bool = False
    endorsed: bool = False
    note: str = ""


_PLAIN = {
    store.FOLLOWED_BY: "followed_by",
    store.REQUESTED_BY: "requested_by",
    store.BLOCKING: "blocking",
    store.BLOCKED_BY: "blocked_by",
    store.DOMAIN_BLOCKING: "domain_blocking",
    store.ENDORSED: "endorsed",
}


async def render(work: Work, me: AccountId, ids: Sequence[int], *, with_suspended: bool = True) -> list[bytes]:
    """One for each of `ids` that is there, in their order, by one query."""
    found: dict[int, Relationship] = {}
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return []
    ties = await store.ties(work.db, me, wanted, work.now)
    for flag, id, is_gone, *_ in ties:
        if flag == store.KNOWN and (with_suspended or not is_gone):
            found[id] = Relationship(str(id))
    for flag, id, *rest in ties:
        if id in found:
            _tell(found[id], flag, rest)
    return [_encode(found[id]) for id in wanted if id in found]


def _tell(shape: Relationship, flag: int, rest: Sequence[Any]) -> None:
    first, second, languages, comment, until = rest
    name = _PLAIN.get(flag)
    if name is not None:
        setattr(shape, name, True)
    elif flag in (store.FOLLOWING, store.REQUESTED):
        shape.following, shape.requested = flag == store.FOLLOWING, flag == store.REQUESTED
        shape.showing_reblogs, shape.notifying, shape.languages = first, second, languages
        shape.follow_state = {"reblogs": bool(first)} if shape.following else False
    elif flag == store.MUTING:
        shape.muting, shape.muting_notifications, shape.muting_expires_at = True, first, maybe(until)
    elif flag == store.NOTED:
        shape.note = comment


async def render_one(work: Work, me: AccountId, other: AccountId) -> bytes:
    [shape] = await render(work, me, [other])
    return shape
