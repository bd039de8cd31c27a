"""The community's own emoji: which there are, and how they come and go."""

from __future__ import annotations

import re
from typing import IO, Any

import msgspec
from sqlalchemy import and_, bindparam, delete, select, update

from kith.base.blobs import Blobs
from kith.base.db import Instant, command, insert_into, query, writing
from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.work import Work
from kith.social.emojis.service import shape
from kith.social.emojis.tables import Emoji, emojis
from kith.social.files.keys import folder_of, new_name
from kith.social.files.processing import is_moving, shape_preview, size_of, sniffed

MOST_BYTES = 256 << 10
LONGEST_CATEGORY = 100
_TAKEN = {"image/png": "png", "image/gif": "gif", "image/webp": "webp", "image/jpeg": "jpg"}
_SHORTCODE = re.compile(r"[A-Za-z0-9_]{2,64}\Z")
_own = query(select(emojis).where(emojis.c.domain == "").order_by(emojis.c.shortcode), Emoji)
_one = query(select(emojis).where(and_(emojis.c.id == bindparam("emoji"), emojis.c.domain == "")), Emoji)
_named = query(select(emojis).where(and_(emojis.c.shortcode == bindparam("shortcode"), emojis.c.domain == "")), Emoji)
_add = command(insert_into(emojis))
_change = command(
    update(emojis)
    .where(emojis.c.id == bindparam("emoji"))
    .values(
        category=bindparam("category"),
        visible_in_picker=bindparam("visible", type_=emojis.c.visible_in_picker.type),
        disabled=bindparam("disabled", type_=emojis.c.disabled.type),
        updated_at=bindparam("now", type_=Instant()),
    )
)
_remove = command(delete(emojis).where(emojis.c.id == bindparam("emoji")))


class EmojiPicture(msgspec.Struct, frozen=True):
    """The stored files of an emoji that is still to be made, and the id that it will have."""

    id: int
    file: str
    static_file: str

    @property
    def keys(self) -> list[str]:
        return [key for key in (self.file, self.static_file) if key]


async def every(work: Work) -> list[Emoji]:
    """By name."""
    return await work.db.all(_own)


def shape_in_picker(work: Work, emoji: Emoji) -> dict[str, Any]:
    return shape(work, emoji) | ({"category": emoji.category} if emoji.category else {})


async def find(work: Work, id: int) -> Emoji:
    found = await work.db.one(_one, emoji=id)
    if found is None:
        raise NotFound
    return found


async def add(
    work: Work, shortcode: str, image: IO[bytes] | EmojiPicture | None, *, category: str | None, visible: bool
) -> Emoji:
    """Whoever writes in the same transaction before this calls `store_picture` before that."""
    category = _category(category)
    if not _SHORTCODE.match(shortcode):
        raise _wrong("shortcode", Complaint("must be 2 to 64 letters, digits or underscores"))
    if await work.db.one(_named, shortcode=shortcode) is not None:
        raise _wrong("shortcode", Complaint("has already been taken", "taken"))
    stored = image if isinstance(image, EmojiPicture) else await store_picture(work, image)
    emoji = Emoji(stored.id, shortcode, "", stored.file, stored.static_file, category, visible, False, None, work.now)
    await work.db.run(_add, **{name: getattr(emoji, name) for name in Emoji.__struct_fields__})
    return emoji


async def store_picture(work: Work, file: IO[bytes] | None) -> EmojiPicture:
    """The file is kept as it is; of one that moves, a still picture beside it."""
    writing.refuse("A picture is stored")
    found = None if file is None else await sniffed(file)
    if file is None or found is None or found.mime not in _TAKEN:
        raise _wrong("image", Complaint("must be a PNG, GIF, WebP or JPEG picture"))
    if await size_of(file) > MOST_BYTES:
        raise _wrong("image", Complaint(f"is too large (maximum is {MOST_BYTES >> 10} KB)", "too_long"))
    id = work.new_id()
    still = (await shape_preview(work, "emojis", id, file)).key if await is_moving(file, found) else ""
    key = f"{folder_of('emojis', id)}/original/{new_name()}.{_TAKEN[found.mime]}"
    file.seek(0)
    await work.find(Blobs).put(key, file.read(), found.mime)
    return EmojiPicture(id, key, still)


async def change(work: Work, id: int, *, category: str | None, visible: bool | None, disabled: bool | None) -> Emoji:
    """What is None stays; an empty category is none."""
    emoji = await find(work, id)
    if category is not None:
        emoji.category = _category(category)
    if visible is not None:
        emoji.visible_in_picker = visible
    if disabled is not None:
        emoji.disabled = disabled
    await work.db.run(
        _change,
        emoji=id,
        category=emoji.category,
        visible=emoji.visible_in_picker,
        disabled=emoji.disabled,
        now=work.now,
    )
    return emoji


def _category(given: str | None) -> str | None:
    category = (given or "").strip()
    if len(category) > LONGEST_CATEGORY:
        raise _wrong("category", Complaint(f"is too long (maximum is {LONGEST_CATEGORY} characters)", "too_long"))
    return category or None


def _wrong(field: str, complaint: Complaint) -> Invalid:
    return Invalid(fields={field: [complaint]})


async def remove(work: Work, shortcode: str) -> None:
    emoji = await work.db.one(_named, shortcode=shortcode)
    if emoji is None:
        raise NotFound(f"there is no emoji :{shortcode}:")
    await delete_one(work, emoji)


async def delete_one(work: Work, emoji: Emoji) -> None:
    """Posts that name it show the name instead, as soon as they are made anew."""
    await forget(work, emoji)
    await work.find(Blobs).delete([key for key in (emoji.file, emoji.static_file) if key])


async def forget(work: Work, emoji: Emoji) -> None:
    """Its row alone; files that are gone do not come back when a transaction does."""
    await work.db.run(_remove, emoji=emoji.id)
