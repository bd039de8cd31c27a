"""Emoji of other servers, known by their shortcode and the server they came from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import and_, bindparam, delete, select, update

from kith.base.db import Instant, add_once, any_of, command, query
from kith.base.work import Work
from kith.social.emojis.tables import Emoji, emojis

__all__ = ["RemoteEmoji", "purge", "remember"]


class RemoteEmoji(Protocol):
    @property
    def shortcode(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def id(self) -> str | None: ...
    @property
    def updated(self) -> datetime | None: ...


_known = query(
    select(emojis).where(and_(emojis.c.domain == bindparam("of"), any_of(emojis.c.shortcode, "codes"))), Emoji
)
_all_of = query(select(emojis).where(and_(emojis.c.domain == bindparam("of"), emojis.c.domain != "")), Emoji)
_purge = command(delete(emojis).where(and_(emojis.c.domain == bindparam("of"), emojis.c.domain != "")))
_add = command(add_once(emojis))
_change = command(
    update(emojis)
    .where(emojis.c.id == bindparam("emoji"))
    .values(
        file=bindparam("new_file"),
        static_file=bindparam("new_file"),
        uri=bindparam("new_uri"),
        updated_at=bindparam("now", type_=Instant()),
    )
)


async def remember(work: Work, domain: str, told: Sequence[RemoteEmoji]) -> None:
    """Those that are new, or have another picture than the one that is known."""
    if not told or not domain:
        return
    known = {one.shortcode: one for one in await work.db.all(_known, of=domain, codes=[one.shortcode for one in told])}
    new = [_row(work, domain, one) for one in told if one.shortcode not in known]
    if new:
        await work.db.many(_add, new)
    changed = {
        known[one.shortcode].id: {"new_file": one.url, "new_uri": one.id, "now": work.now}
        for one in told
        if one.shortcode in known and known[one.shortcode].file != one.url
    }
    if changed:  # in one order, or two who change the same would wait for each other
        await work.db.many(_change, [{"emoji": id} | changed[id] for id in sorted(changed)])


async def purge(work: Work, domain: str) -> list[Emoji]:
    """Forget all of a server; what they were."""
    found = await work.db.all(_all_of, of=domain)
    await work.db.run(_purge, of=domain)
    return found


def _row(work: Work, domain: str, told: RemoteEmoji) -> dict[str, Any]:
    return {
        "id": work.new_id(),
        "shortcode": told.shortcode,
        "domain": domain,
        "file": told.url,
        "static_file": told.url,
        "category": None,
        "visible_in_picker": False,
        "disabled": False,
        "uri": told.id,
        "updated_at": work.now,
    }
