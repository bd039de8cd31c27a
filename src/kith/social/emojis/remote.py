"""Emoji of other servers, known by their shortcode and the server they came from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import and_, bindparam, delete, func, select, update

from kith.base.db import Instant, add_once, any_of, command, query
from kith.base.work import Work
from kith.social.emojis.tables import Emoji, emojis

__all__ = ["MOST_OF_SERVER", "RemoteEmoji", "page", "purge", "remember"]

MOST_OF_SERVER = 10_000  # twice what the largest collections have


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
_of_server = and_(emojis.c.domain == bindparam("of"), emojis.c.domain != "")
_some_of = select(emojis.c.id).where(_of_server).order_by(emojis.c.id).limit(bindparam("most"))
_count = query(select(func.count()).select_from(_some_of.subquery()), int)
_page = query(
    select(emojis)
    .where(and_(_of_server, emojis.c.id > bindparam("after")))
    .order_by(emojis.c.id)
    .limit(bindparam("most")),
    Emoji,
)
_purge = query(delete(emojis).where(emojis.c.id.in_(_some_of)).returning(*emojis.c), Emoji)
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
    """Those that are new, as long as there is room, or have another picture than the one that is known."""
    if not told or not domain:
        return
    known = {one.shortcode: one for one in await work.db.all(_known, of=domain, codes=[one.shortcode for one in told])}
    new = {one.shortcode: one for one in told if one.shortcode not in known}
    if new:
        room = max(0, MOST_OF_SERVER - (await work.db.one(_count, of=domain, most=MOST_OF_SERVER) or 0))
        rows = [_row(work, domain, new[code]) for code in sorted(new)[:room]]
        if rows:
            await work.db.many(_add, rows)
    changed = {
        known[one.shortcode].id: {"new_file": one.url, "new_uri": one.id, "now": work.now}
        for one in told
        if one.shortcode in known and known[one.shortcode].file != one.url
    }
    if changed:  # in one order, or two who change the same would wait for each other
        await work.db.many(_change, [{"emoji": id} | changed[id] for id in sorted(changed)])


async def page(work: Work, domain: str, after: int, most: int) -> list[Emoji]:
    """Those of a server, in the order of their ids."""
    return await work.db.all(_page, of=domain, after=after, most=most)


async def purge(work: Work, domain: str, most: int) -> list[Emoji]:
    """Forget some of a server's; what they were."""
    return await work.db.all(_purge, of=domain, most=most)


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
