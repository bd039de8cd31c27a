"""The community's own emoji, each with its picture as a `data:` address."""

from __future__ import annotations

import base64
import hashlib
import io
from datetime import timedelta
from typing import Any, ClassVar

import msgspec

from kith.base.blobs import Blobs
from kith.base.errors import NotFound
from kith.base.work import Work
from kith.identity.for_configuration import BadBlueprint, BlueprintRun, StoredValues, Values
from kith.social.configuration.listed import ListedModel
from kith.social.emoji_management import acts
from kith.social.emoji_management.tasks import FORGET_UNUSED, UnusedPictures
from kith.social.emojis import custom_emojis
from kith.social.emojis.custom_emojis import EmojiPicture
from kith.social.emojis.tables import Emoji
from kith.social.media.tasks import FORGET, RemoveFiles
from kith.social.staff import Staff

__all__ = ["EmojiModel"]

_TYPES = {"png": "image/png", "gif": "image/gif", "webp": "image/webp", "jpg": "image/jpeg"}
UNUSED = timedelta(hours=1)  # no transaction takes as long
_LONGEST = custom_emojis.MOST_BYTES * 2


class EmojiModel(ListedModel):
    name, file, permission = "social.emoji", "a2-emoji", "manage_custom_emojis"
    key = ("shortcode",)
    fields: ClassVar[dict[str, Any]] = {
        "shortcode": str,
        "category": str | None,
        "visible_in_picker": bool,
        "disabled": bool,
        "image": str,
    }

    slow: tuple[str, ...] = ("image",)

    async def prepare(self, run: BlueprintRun, identifiers: Values, slow: Values) -> None:
        """A new picture is stored; of one that is there already it is noted that it is the same."""
        image = slow["image"]
        if image is None:
            return
        picture = _picture(image)
        ready = _ready(run)
        stored = await self.find(run, identifiers)
        if stored is not None and await _is_same(run.work, stored, picture):
            ready.same.add((stored.pk, picture))
        elif not run.is_rehearsal:  # no picture is stored for what does not stay
            made = await custom_emojis.store_picture(run.work, io.BytesIO(picture))
            ready.stored.setdefault(picture, []).append(made)

    async def prepared(self, run: BlueprintRun) -> None:
        """Whatever becomes of the transaction, files that no emoji has in the end are removed."""
        pictures = [one for made in _ready(run).stored.values() for one in made]
        if pictures:
            async with run.work.aside() as aside:
                aside.enqueue(FORGET_UNUSED, UnusedPictures(pictures), at=aside.now + UNUSED)

    async def known(self, work: Work) -> list[StoredValues]:
        return [_values(one) for one in await custom_emojis.every(work)]

    async def every(self, work: Work) -> list[StoredValues]:
        found = []
        for one in await custom_emojis.every(work):
            stored = _values(one)
            try:
                data = await work.find(Blobs).get(one.file)
            except NotFound:
                continue  # its picture is lost, so it is shown nowhere
            kind = _TYPES.get(one.file.rpartition(".")[2], "image/png")
            stored.values["image"] = f"data:{kind};base64,{base64.b64encode(data).decode()}"
            found.append(stored)
        return found

    async def one(self, work: Work, pk: Any) -> StoredValues | None:
        try:
            return _values(await custom_emojis.find(work, pk))
        except NotFound:
            return None

    async def update(self, run: BlueprintRun, stored: StoredValues, attrs: Values) -> StoredValues:
        """Another picture is another emoji, which takes the place of the old one."""
        wanted = dict(attrs)
        image = wanted.pop("image", None)
        if image is None or (stored.pk, _picture(image)) in _ready(run).same:
            return await super().update(run, stored, wanted)
        kept = {name: stored.values[name] for name in ("shortcode", "category", "visible_in_picker", "disabled")}
        await self.remove(run, stored)
        made = await self.create(run, kept | wanted | {"image": image})
        made.values["image"] = _mark(_picture(image))
        return made

    async def add(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        picture = _picture(values.get("image"))
        if run.is_rehearsal:
            return run.work.new_id()
        stored = _ready(run).stored.get(picture)
        if not stored:
            raise BadBlueprint("image: its emoji was changed by somebody else meanwhile: please try again")
        made = await acts.create(
            run.work,
            by,
            values["shortcode"],
            stored.pop(),
            category=values.get("category"),
            visible=values.get("visible_in_picker", True),
        )
        if values.get("disabled"):
            await acts.change(run.work, by, made.id, acts.EmojiChange(disabled=True))
        return made.id

    async def change(self, run: BlueprintRun, by: Staff, stored: StoredValues, values: Values) -> None:
        category = "" if "category" in values and values["category"] is None else values.get("category")
        wanted = acts.EmojiChange(
            category=category, visible_in_picker=values.get("visible_in_picker"), disabled=values.get("disabled")
        )
        await acts.change(run.work, by, stored.pk, wanted)

    async def delete(self, run: BlueprintRun, by: Staff, stored: StoredValues) -> None:
        """Its files go once that is certain."""
        emoji = await custom_emojis.find(run.work, stored.pk)
        await acts.forget(run.work, by, emoji)
        run.work.enqueue(FORGET, RemoveFiles(keys=[key for key in (emoji.file, emoji.static_file) if key]))


class _ReadyPictures(msgspec.Struct):
    """What was done before anything was written."""

    same: set[tuple[Any, bytes]] = msgspec.field(default_factory=set)  # emoji that have this picture already
    stored: dict[bytes, list[EmojiPicture]] = msgspec.field(default_factory=dict)  # one for each emoji to be made


def _ready(run: BlueprintRun) -> _ReadyPictures:
    ready: _ReadyPictures = run.prepared.setdefault(EmojiModel.name, _ReadyPictures())
    return ready


def _values(one: Emoji) -> StoredValues:
    values: Values = {
        "shortcode": one.shortcode,
        "category": one.category,
        "visible_in_picker": one.visible_in_picker,
        "disabled": one.disabled,
    }
    return StoredValues(one.id, values)


def _picture(image: Any) -> bytes:
    if not isinstance(image, str) or not image.startswith("data:") or len(image) > _LONGEST:
        raise BadBlueprint("image: must be a picture as `data:image/png;base64,...`, or a !File, not too large")
    try:
        return base64.b64decode(image.partition(",")[2], validate=True)
    except ValueError:
        raise BadBlueprint("image: its base64 cannot be read") from None


def _mark(picture: bytes) -> str:
    """In place of a picture, in what people see of a change."""
    return f"picture {hashlib.sha256(picture).hexdigest()[:12]}"


async def _is_same(work: Work, stored: StoredValues, picture: bytes) -> bool:
    try:
        emoji = await custom_emojis.find(work, stored.pk)
        return await work.find(Blobs).get(emoji.file) == picture
    except NotFound:
        return False
