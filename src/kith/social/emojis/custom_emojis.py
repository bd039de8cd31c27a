"""The community's own emoji: which there are, and how they come and go."""

from __future__ import annotations

import re
from typing import IO, Any

from sqlalchemy import bindparam, delete, select

from kith.base.blobs import Blobs
from kith.base.db import command, insert_into, query
from kith.base.errors import Conflict, Invalid, NotFound
from kith.base.work import Work
from kith.social.emojis.service import shape
from kith.social.emojis.tables import Emoji, emojis
from kith.social.files.keys import folder_of, new_name
from kith.social.files.processing import is_moving, shape_preview, size_of, sniffed

MOST_BYTES = 256 << 10
_TAKEN = {"image/png": "png", "image/gif": "gif", "image/webp": "webp", "image/jpeg": "jpg"}
_SHORTCODE = re.compile(r"[A-Za-z0-9_]{2,64}\Z")
_own = query(select(emojis).where(emojis.c.domain == "").order_by(emojis.c.shortcode), Emoji)
_add = command(insert_into(emojis))
_remove = command(delete(emojis).where(emojis.c.id == bindparam("emoji")))


async def every(work: Work) -> list[Emoji]:
    """By name."""
    return await work.db.all(_own)


def shape_in_picker(work: Work, emoji: Emoji) -> dict[str, Any]:
    return shape(work, emoji) | ({"category": emoji.category} if emoji.category else {})


async def add(work: Work, shortcode: str, file: IO[bytes], *, category: str | None, visible: bool) -> Emoji:
    """The file is kept as it is; of one that moves, a still picture beside it."""
    if not _SHORTCODE.match(shortcode):
        raise Invalid("a shortcode is 2 to 64 letters, digits or underscores")
    if any(emoji.shortcode == shortcode for emoji in await every(work)):
        raise Conflict(f"there is an emoji :{shortcode}: already")
    found = await sniffed(file)
    if found is None or found.mime not in _TAKEN:
        raise Invalid("an emoji is a PNG, GIF, WebP or JPEG picture")
    if await size_of(file) > MOST_BYTES:
        raise Invalid(f"an emoji is at most {MOST_BYTES >> 10} KB large")
    id = work.new_id()
    still = (await shape_preview(work, "emojis", id, file)).key if await is_moving(file, found) else ""
    key = f"{folder_of('emojis', id)}/original/{new_name()}.{_TAKEN[found.mime]}"
    file.seek(0)
    await work.find(Blobs).put(key, file.read(), found.mime)
    emoji = Emoji(id, shortcode, "", key, still, category, visible, False, None, work.now)
    await work.db.run(_add, **{name: getattr(emoji, name) for name in Emoji.__struct_fields__})
    return emoji


async def remove(work: Work, shortcode: str) -> None:
    """Posts that name it show the name instead, as soon as they are made anew."""
    for emoji in await every(work):
        if emoji.shortcode == shortcode:
            await work.find(Blobs).delete([key for key in (emoji.file, emoji.static_file) if key])
            await work.db.run(_remove, emoji=emoji.id)
            return
    raise NotFound(f"there is no emoji :{shortcode}:")
