"""Attachments as the server keeps them, on both databases. The routes have their own tests."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import bindparam, update

from kith.app import House
from kith.base.blobs import Blobs
from kith.base.db import Instant, command
from kith.base.errors import Invalid, NotFound, Problem
from kith.base.ids import id_at
from kith.base.work import Work
from kith.identity.users import store as users
from kith.social.accounts import user_accounts
from kith.social.accounts.facts import AccountDeleted
from kith.social.addresses import file_url
from kith.social.files.decoder_processes import BadFile
from kith.social.files.keys import folder_of
from kith.social.files.processing import shape_avatar, shape_preview
from kith.social.ids import AccountId
from kith.social.media import service, store, tasks
from kith.social.media.entities import render, render_media
from kith.social.media.service import MediaChange, NewMedia
from kith.social.media.tables import Media, media
from tests.social import samples
from tests.town import Town, build_town

_backdate = command(
    update(media).where(media.c.id == bindparam("media_id")).values(created_at=bindparam("at", type_=Instant()))
)


class Shelf:
    """A member's attachments, and the parts of their server."""

    def __init__(self, house: House, account_id: AccountId) -> None:
        self.house = house
        self.account_id = account_id

    async def do(self, act: Callable[[Work], Awaitable[Any]]) -> Any:
        async with self.house.works.begin() as work:
            return await act(work)

    async def upload(self, data: bytes, *, wait: bool = False, thumbnail: bytes | None = None, **more: Any) -> Media:
        file = io.BytesIO(data)
        new = NewMedia(file, io.BytesIO(thumbnail) if thumbnail else None, **more)
        row: Media = await self.do(lambda work: service.upload(work, self.account_id, new, wait=wait))
        return row

    async def find(self, row: Media) -> Media | None:
        found: Media | None = await self.do(lambda work: store.find(work.db, row.id))
        return found

    async def settled(self, row: Media) -> Media:
        """The row, once the server's worker is done with it."""
        for _ in range(1500):
            found = await self.find(row)
            assert found is not None
            if found.state != "waiting":
                return found
            await asyncio.sleep(0.02)
        raise AssertionError("it is still waiting")

    async def keys(self, prefix: str) -> list[str]:
        return [key async for key in self.house.find(Blobs).list(prefix)]

    async def until_empty(self, prefix: str) -> None:
        for _ in range(1500):
            if not await self.keys(prefix):
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"there is still something at {prefix}: {await self.keys(prefix)}")


@asynccontextmanager
async def _shelf(town: Town) -> AsyncIterator[Shelf]:
    person = await town.sign_up()
    async with town.house() as house:
        async with house.works.begin() as work:
            user = await users.find(work.db, person.username)
            assert user is not None
            await user_accounts.make(work, user.id)
        async with house.works.begin() as work:
            account = await user_accounts.of_user(work, user.id)
        yield Shelf(house, account.id)


@pytest.fixture
async def shelf(town: Town) -> AsyncIterator[Shelf]:
    async with _shelf(town) as built:
        yield built


def _uploads(row: Media) -> str:
    return f"uploads/{row.id}"


def _files(row: Media) -> str:
    return folder_of("attachments", row.id)


async def test_a_picture_is_ready_at_once(town: Town, shelf: Shelf) -> None:
    row = await shelf.upload(samples.camera_jpeg(), description=" a barn ", focus="0.5,-7")

    kept = await shelf.find(row)
    assert kept is not None
    assert (kept.state, kept.kind, kept.mime, kept.description) == ("ready", "image", "image/jpeg", "a barn")
    assert kept.meta["focus"] == {"x": 0.5, "y": -1.0}
    [entity] = render_media(shelf.house.settings, [kept])
    assert entity.url is not None
    assert entity.preview_url is not None
    assert entity.url.startswith(f"{town.base_url}/media/attachments/")
    for url in (entity.url, entity.preview_url):
        assert (await town.http.get(url)).headers["content-type"] == "image/jpeg"
    rendered = await shelf.do(lambda work: render(work, [row.id, 1]))
    assert rendered == {row.id: entity}
    await shelf.until_empty(_uploads(row))


async def test_what_plays_is_made_ready_later(town: Town, shelf: Shelf) -> None:
    row = await shelf.upload(samples.gif(3), focus="0.1,0.2")
    song = await shelf.upload(samples.sound("wav", "pcm_s16le"), thumbnail=samples.image_file("PNG"))

    waiting = render_media(shelf.house.settings, [row])[0]
    assert (waiting.type, waiting.url, waiting.preview_url) == ("gifv", None, None)
    done, played = await shelf.settled(row), await shelf.settled(song)
    assert (done.state, done.kind, done.mime, done.source) == ("ready", "gifv", "video/mp4", "")
    assert done.meta["focus"] == {"x": 0.1, "y": 0.2}
    assert (played.kind, played.mime) == ("audio", "audio/mpeg")
    assert played.preview.endswith(".png")
    assert played.meta.keys() == {"original", "small", "colors"}
    for url in (file_url(shelf.house.settings, done.file), file_url(shelf.house.settings, played.preview)):
        assert (await town.http.get(url)).status_code == 200
    await shelf.until_empty(_uploads(row))
    await shelf.until_empty(_uploads(song))


async def test_whoever_waits_gets_a_film_that_is_ready(shelf: Shelf) -> None:
    row = await shelf.upload(samples.video(frames=3), wait=True, thumbnail=samples.image_file("JPEG", (30, 20)))

    assert (row.state, row.kind) == ("ready", "video")
    assert row.preview.endswith(".jpg")
    assert row.meta["small"]["size"] == "30x20"
    assert row.meta.keys() == {"original", "small"}


async def test_sound_without_a_cover_has_no_preview(shelf: Shelf) -> None:
    row = await shelf.upload(samples.sound("mp3", "libmp3lame"), wait=True)

    [entity] = render_media(shelf.house.settings, [row])
    assert (entity.type, entity.preview_url, entity.blurhash) == ("audio", None, None)


async def test_a_failure_is_kept_with_its_reason(shelf: Shelf) -> None:
    row = await shelf.upload(samples.video()[:900])

    failed = await shelf.settled(row)
    assert (failed.state, failed.file, failed.source) == ("failed", "", "")
    assert failed.error == "File type of uploaded media could not be verified"
    with pytest.raises(BadFile, match="Error processing thumbnail for uploaded media"):
        await shelf.do(lambda work: service.find_own(work, shelf.account_id, row.id))
    with pytest.raises(BadFile, match="not finished processing"):
        await shelf.do(lambda work: service.claimable(work, shelf.account_id, [row.id]))
    await shelf.until_empty(_uploads(row))


@pytest.mark.parametrize(
    ("data", "more", "problem", "words"),
    [
        (
            b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
            {},
            BadFile,
            "Validation failed: File content type is invalid, File is invalid",
        ),
        (b"#EXTM3U\n/etc/passwd", {}, BadFile, "Validation failed: File content type is invalid, File is invalid"),
        (b"\x89PNG\r\n\x1a\n" + bytes(16 << 20), {}, Invalid, {"file": ["must be smaller than 16 MB"]}),
        (
            b"GIF89a",
            {"description": "x" * 10_001},
            Invalid,
            {"description": ["is too long (maximum is 10000 characters)"]},
        ),
        (b"GIF89a", {"focus": "left"}, Invalid, {"focus": ["must be two numbers between -1 and 1, such as 0.5,-0.2"]}),
        (b"GIF89a", {"focus": "nan,1"}, Invalid, {"focus": ["must be two numbers between -1 and 1, such as 0.5,-0.2"]}),
        (samples.png_header(30_000, 30_000), {}, BadFile, "30000x30000 images are not supported"),
    ],
    ids=["svg", "playlist", "large", "wordy", "focus", "nan", "bomb"],
)
async def test_refusals_leave_nothing_behind(
    shelf: Shelf, data: bytes, more: dict[str, Any], problem: type[Problem], words: Any
) -> None:
    with pytest.raises(problem) as refused:
        await shelf.upload(data, **more)

    error = refused.value
    assert (error.fields if isinstance(error, Invalid) else error.message) == words
    assert await shelf.do(lambda work: store.ids_of_account(work.db, shelf.account_id, most=5)) == []


async def test_a_thumbnail_must_be_a_picture(shelf: Shelf) -> None:
    with pytest.raises(Invalid) as refused:
        await shelf.upload(samples.gif(2), thumbnail=b"<html>")

    assert refused.value.fields == {"thumbnail": ["content type is invalid"]}


async def test_it_is_changed_and_deleted_by_its_owner_while_it_belongs_to_nothing(shelf: Shelf) -> None:
    row = await shelf.upload(samples.sound("mp3", "libmp3lame"), wait=True, description="before")
    change = MediaChange(description="after", focus="1,1", thumbnail=io.BytesIO(samples.image_file("PNG")))

    changed = await shelf.do(lambda work: service.change(work, shelf.account_id, row.id, change))

    kept = await shelf.find(row)
    assert kept is not None
    assert kept == changed
    assert (kept.description, kept.meta["focus"], kept.meta["small"]["size"]) == (
        "after",
        {"x": 1.0, "y": 1.0},
        "80x60",
    )
    again = MediaChange(thumbnail=io.BytesIO(samples.image_file("PNG", (20, 20))))
    newest = await shelf.do(lambda work: service.change(work, shelf.account_id, row.id, again))
    assert (newest.description, newest.meta["small"]["size"]) == ("after", "20x20")
    await shelf.until_empty(kept.preview.rpartition("/")[0] + "/" + kept.preview.rpartition("/")[2])
    with pytest.raises(NotFound):
        await shelf.do(lambda work: service.change(work, AccountId(shelf.account_id + 1), row.id, again))
    with pytest.raises(NotFound):
        await shelf.do(lambda work: service.delete(work, AccountId(shelf.account_id + 1), row.id))
    await shelf.do(lambda work: service.delete(work, shelf.account_id, row.id))
    assert await shelf.find(row) is None
    await shelf.until_empty(_files(row))


async def test_a_post_carries_what_it_may(shelf: Shelf) -> None:
    pictures = [await shelf.upload(samples.image_file("PNG", (4, 4))) for _ in range(2)]
    film = await shelf.upload(samples.video(frames=2), wait=True)
    waiting = Media(
        **{name: getattr(film, name) for name in Media.__struct_fields__} | {"id": film.id + 1, "state": "waiting"}
    )
    await shelf.do(lambda work: store.insert(work.db, waiting))
    ids = [row.id for row in pictures]

    async def claim(account_id: AccountId, ids: list[int], **more: Any) -> list[int] | str:
        try:
            claimed: list[int] = await shelf.do(lambda work: service.claimable(work, account_id, ids, **more))
        except service.CannotAttach as refused:
            return refused.message
        return claimed

    missing = "Media {} not found or already attached to another post"
    me = shelf.account_id
    assert await claim(me, ids[::-1]) == ids[::-1]
    assert await claim(me, [ids[0], ids[0]]) == [ids[0]]
    assert await claim(me, [1, 2, 3, 4, 5]) == "Cannot attach more than 4 files"
    assert await claim(me, [ids[0], 7, 8]) == missing.format("7, 8")
    assert await claim(AccountId(me + 1), ids) == missing.format(f"{ids[0]}, {ids[1]}")
    assert await claim(me, [ids[0], film.id]) == "Cannot attach a video to a post that already contains images"
    assert await claim(me, [film.id]) == [film.id]
    assert (
        await claim(me, [waiting.id]) == "Cannot attach files that have not finished processing. Try again in a moment!"
    )
    await shelf.do(lambda work: service.reserve(work, ids, 77))
    assert await claim(me, ids) == missing.format(f"{ids[0]}, {ids[1]}")
    assert await claim(me, ids, held_by=77) == ids
    with pytest.raises(service.CannotAttach):
        await shelf.do(lambda work: service.reserve(work, ids, 78))
    with pytest.raises(BadFile, match="Media attachment is currently used by a status"):
        await shelf.do(lambda work: service.delete(work, me, ids[0]))
    with pytest.raises(NotFound):
        await shelf.do(lambda work: service.find_own(work, me, ids[0]))
    await shelf.do(lambda work: service.detach(work, ids))
    assert await claim(me, ids) == ids


async def test_what_belongs_to_nothing_is_gone_after_a_day(shelf: Shelf) -> None:
    old, new, used = [await shelf.upload(samples.image_file("PNG", (4, 4))) for _ in range(3)]
    lost = id_at(old.created_at - timedelta(days=2))
    blobs = shelf.house.works.services[Blobs]
    for key in (f"uploads/{lost}/note", f"{folder_of('attachments', lost)}/original/x.png"):
        await blobs.put(key, b"x", "image/png")
    await shelf.do(lambda work: service.reserve(work, [used.id], 77))
    async with shelf.house.works.begin() as work:
        for row in (old, used):
            await work.db.run(_backdate, media_id=row.id, at=row.created_at - timedelta(days=2))

    async def sweep(work: Work) -> None:
        work.enqueue(tasks.SWEEP, tasks.SweepMedia())

    await shelf.do(sweep)

    await shelf.until_empty(_files(old))
    await shelf.until_empty(f"uploads/{lost}")
    await shelf.until_empty(folder_of("attachments", lost))
    assert await shelf.find(old) is None
    for row in (new, used):
        assert await shelf.find(row) is not None
        assert len(await shelf.keys(_files(row))) == 2


async def test_all_of_somebody_goes_with_them(shelf: Shelf) -> None:
    rows = [await shelf.upload(samples.image_file("PNG", (4, 4))) for _ in range(2)]
    await shelf.do(lambda work: service.reserve(work, [rows[0].id], 77))

    async with shelf.house.works.begin() as work:
        work.announce(AccountDeleted(account_id=shelf.account_id))

    for row in rows:
        await shelf.until_empty(_files(row))
    assert await shelf.do(lambda work: store.ids_of_account(work.db, shelf.account_id, most=5)) == []


async def test_pictures_for_profiles_and_cards_are_stored(shelf: Shelf) -> None:
    async def shape(work: Work) -> tuple[Any, Any, Any]:
        moving = await shape_avatar(work, shelf.account_id, io.BytesIO(samples.gif(2)))
        still = await shape_avatar(work, shelf.account_id, io.BytesIO(samples.image_file("PNG")))
        card = await shape_preview(work, "cards", 9, io.BytesIO(samples.image_file("JPEG", (900, 600))))
        return moving, still, card

    moving, still, card = await shelf.do(shape)

    assert moving.file.endswith(".gif")
    assert moving.static.endswith(".png")
    assert still.file == still.static
    assert card.width * card.height <= 640 * 360
    blobs = shelf.house.works.services[Blobs]
    for key in (moving.file, moving.static, still.file, card.key):
        assert await blobs.exists(key)
    for bad in (b"<svg/>", samples.sound("mp3", "libmp3lame")):
        async with shelf.house.works.begin() as work:
            with pytest.raises(BadFile, match="content type is invalid"):
                await shape_avatar(work, shelf.account_id, io.BytesIO(bad))


async def test_an_upload_survives_the_power_failing(tmp_path: Path) -> None:
    async with build_town("sqlite", tmp_path / "town") as town, _shelf(town) as shelf:
        row = await shelf.upload(samples.many_frames_gif(2000, (300, 300)))
        while not list(tmp_path.glob("town/workshop/*/original.mp4")):
            await asyncio.sleep(0.01)
        await town.kill()
        halfway = await shelf.find(row)
        assert halfway is not None
        assert halfway.state == "waiting"
        await town.start()

        done = await shelf.settled(row)

        assert (done.state, done.kind) == ("ready", "gifv")
        assert len(await shelf.keys(_files(row))) == 2
        await shelf.until_empty(_uploads(row))
