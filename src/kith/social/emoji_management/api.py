from __future__ import annotations

from typing import Annotated, Any

import msgspec

from kith.base.params import BodyLimits, Upload
from kith.base.routing import FromPath, FromQuery, FromRequest, RequestBody, delete, get, number, post, put
from kith.base.work import Work
from kith.social.emoji_management import acts, elsewhere
from kith.social.emojis import custom_emojis
from kith.social.emojis.tables import Emoji
from kith.social.moments import moment
from kith.social.staff import TheStaff, staff

READ = staff("manage_custom_emojis", scope="admin:read")
WRITE = staff("manage_custom_emojis", scope="admin:write")
SENT = BodyLimits(max_file_bytes=1 << 20, max_files=1)


class NewEmoji(msgspec.Struct, kw_only=True):
    shortcode: str = ""
    category: str | None = None
    image: Upload | None = None
    visible_in_picker: bool = True


class RemoteEmojiQuery(msgspec.Struct, kw_only=True):
    """`name` is how the shortcode begins."""

    name: str = ""
    domain: str = ""
    max_id: str = ""
    limit: int = 40


class EmojiCopy(msgspec.Struct, kw_only=True):
    shortcode: str = ""
    category: str | None = None


def _shown(work: Work, emoji: Emoji) -> dict[str, Any]:
    return custom_emojis.shape_in_picker(work, emoji) | {
        "id": str(emoji.id),
        "category": emoji.category,
        "disabled": emoji.disabled,
        "updated_at": moment(emoji.updated_at),
    }


@get("/api/v1/admin/custom_emojis", guards=[READ])
async def list_emojis(work: Work) -> list[dict[str, Any]]:
    """All of them, also those that are hidden or disabled, by name."""
    return [_shown(work, emoji) for emoji in await custom_emojis.every(work)]


@get("/api/v1/admin/remote_emojis", guards=[READ])
async def list_remote_emojis(work: Work, asked: FromQuery[RemoteEmojiQuery]) -> list[dict[str, Any]]:
    """Those of other servers, the latest first."""
    found = await elsewhere.find_all(
        work,
        name=asked.name.strip(": ")[:64],
        domain=asked.domain.strip().lower()[:255],
        before=number(asked.max_id) if asked.max_id else None,
        limit=min(abs(asked.limit) or 1, elsewhere.MOST),
    )
    return [_shown(work, emoji) | {"domain": emoji.domain} for emoji in found]


@post("/api/v1/admin/remote_emojis/{id}/copy", guards=[WRITE])
async def copy_emoji(work: Work, by: TheStaff, id: FromPath[int], wanted: FromRequest[EmojiCopy]) -> dict[str, Any]:
    """Make it one of the community's own."""
    made = await elsewhere.copy(work, by, id, shortcode=wanted.shortcode.strip(": "), category=wanted.category)
    return _shown(work, made)


@get("/api/v1/admin/custom_emojis/{id}", guards=[READ])
async def show_emoji(work: Work, id: FromPath[int]) -> dict[str, Any]:
    return _shown(work, await custom_emojis.find(work, id))


@post("/api/v1/admin/custom_emojis", guards=[WRITE])
async def create_emoji(work: Work, by: TheStaff, sent: Annotated[NewEmoji, RequestBody(SENT)]) -> dict[str, Any]:
    image = None if sent.image is None else sent.image.file
    made = await acts.create(
        work, by, sent.shortcode.strip(":"), image, category=sent.category, visible=sent.visible_in_picker
    )
    return _shown(work, made)


@put("/api/v1/admin/custom_emojis/{id}", guards=[WRITE])
async def change_emoji(
    work: Work, by: TheStaff, id: FromPath[int], wanted: FromRequest[acts.EmojiChange]
) -> dict[str, Any]:
    return _shown(work, await acts.change(work, by, id, wanted))


@post("/api/v1/admin/custom_emojis/{id}/enable", guards=[WRITE])
async def enable_emoji(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    return _shown(work, await acts.change(work, by, id, acts.EmojiChange(disabled=False)))


@post("/api/v1/admin/custom_emojis/{id}/disable", guards=[WRITE])
async def disable_emoji(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    return _shown(work, await acts.change(work, by, id, acts.EmojiChange(disabled=True)))


@delete("/api/v1/admin/custom_emojis/{id}", guards=[WRITE])
async def delete_emoji(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    await acts.remove(work, by, id)
    return {}


routes = [
    list_emojis,
    list_remote_emojis,
    copy_emoji,
    show_emoji,
    create_emoji,
    change_emoji,
    enable_emoji,
    disable_emoji,
    delete_emoji,
]
