"""What the team does with the community's own emoji."""

from __future__ import annotations

from typing import IO

import msgspec

from kith.base.work import Work
from kith.social.emojis import custom_emojis
from kith.social.emojis.custom_emojis import EmojiPicture
from kith.social.emojis.tables import Emoji
from kith.social.staff import Staff, record


class EmojiChange(msgspec.Struct, kw_only=True):
    """What is left out stays as it is."""

    category: str | None = None
    visible_in_picker: bool | None = None
    disabled: bool | None = None


async def create(
    work: Work,
    by: Staff,
    shortcode: str,
    image: IO[bytes] | EmojiPicture | None,
    *,
    category: str | None,
    visible: bool,
) -> Emoji:
    made = await custom_emojis.add(work, shortcode, image, category=category, visible=visible)
    await record(work, by, "create_custom_emoji", custom_emoji=_told(made))
    return made


async def change(work: Work, by: Staff, id: int, wanted: EmojiChange) -> Emoji:
    changed = await custom_emojis.change(
        work, id, category=wanted.category, visible=wanted.visible_in_picker, disabled=wanted.disabled
    )
    action = {True: "disable_custom_emoji", False: "enable_custom_emoji", None: "update_custom_emoji"}
    await record(work, by, action[wanted.disabled], custom_emoji=_told(changed))
    return changed


async def remove(work: Work, by: Staff, id: int) -> None:
    emoji = await custom_emojis.find(work, id)
    await custom_emojis.delete_one(work, emoji)
    await record(work, by, "destroy_custom_emoji", custom_emoji=_told(emoji))


async def forget(work: Work, by: Staff, emoji: Emoji) -> None:
    """As `remove`, but its files stay for somebody else to remove."""
    await custom_emojis.forget(work, emoji)
    await record(work, by, "destroy_custom_emoji", custom_emoji=_told(emoji))


def _told(emoji: Emoji) -> dict[str, str]:
    return {"id": str(emoji.id), "shortcode": emoji.shortcode}
