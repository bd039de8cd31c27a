"""Emoji of other servers that are known here, and copies of them as the community's own."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import and_, bindparam, select

from kith.base.blobs import Blobs
from kith.base.db import Query, query
from kith.base.errors import NotFound
from kith.base.work import Work
from kith.social.emojis import custom_emojis
from kith.social.emojis.remote_files import bring, key_of
from kith.social.emojis.tables import Emoji, emojis
from kith.social.staff import Staff, record

__all__ = ["MOST", "copy", "find_all"]

MOST = 100
_one = query(
    select(emojis).where(and_(emojis.c.id == bindparam("emoji"), emojis.c.domain != "", ~emojis.c.disabled)), Emoji
)


@lru_cache(4)
def _listed(*, by_name: bool, by_domain: bool) -> Query[Emoji]:
    clauses = [emojis.c.domain != "", ~emojis.c.disabled, emojis.c.id < bindparam("before")]
    if by_name:
        clauses += [emojis.c.shortcode >= bindparam("name"), emojis.c.shortcode < bindparam("after_name")]
    if by_domain:
        clauses.append(emojis.c.domain == bindparam("domain"))
    return query(select(emojis).where(and_(*clauses)).order_by(emojis.c.id.desc()).limit(bindparam("most")), Emoji)


async def find_all(work: Work, *, name: str, domain: str, before: int | None, limit: int) -> Sequence[Emoji]:
    """The latest first; `name` is how the shortcode begins."""
    statement = _listed(by_name=bool(name), by_domain=bool(domain))
    given: dict[str, object] = {"before": before or 2**63 - 1, "most": limit}
    if name:
        given |= {"name": name, "after_name": f"{name}\U0010ffff"}
    if domain:
        given["domain"] = domain
    return await work.db.slow(statement, **given)


async def copy(work: Work, by: Staff, id: int, *, shortcode: str, category: str | None) -> Emoji:
    """The picture is fetched first where it is not here yet, before anything is written."""
    by.check("manage_custom_emojis")
    found = await work.db.one(_one, emoji=id)
    if found is None:
        raise NotFound
    key, blobs = key_of(found), work.find(Blobs)
    if not await blobs.exists(key):
        await bring(work, id, key)
    picture = io.BytesIO(await blobs.get(key))
    made = await custom_emojis.add(work, shortcode or found.shortcode, picture, category=category, visible=True)
    await record(
        work,
        by,
        "copy_custom_emoji",
        custom_emoji={"id": str(made.id), "shortcode": made.shortcode, "from": found.domain},
    )
    return made
