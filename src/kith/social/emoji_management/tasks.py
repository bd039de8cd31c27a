"""Pictures that were stored ahead for emoji that were not made after all."""

from __future__ import annotations

import msgspec

from kith.base.blobs import Blobs
from kith.base.errors import NotFound
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.emojis import custom_emojis
from kith.social.emojis.custom_emojis import EmojiPicture

__all__ = ["FORGET_UNUSED", "UnusedPictures"]


class UnusedPictures(msgspec.Struct):
    """Those of them that belong to no emoji go."""

    pictures: list[EmojiPicture]


async def forget_unused(work: Work, payload: UnusedPictures) -> None:
    for picture in payload.pictures:
        try:
            await custom_emojis.find(work, picture.id)
        except NotFound:
            await work.find(Blobs).delete(picture.keys)


FORGET_UNUSED: JobKind[UnusedPictures] = JobKind(
    name="emojis.forget_unused", payload=UnusedPictures, handler=forget_unused
)
