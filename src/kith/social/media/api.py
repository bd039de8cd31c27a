from __future__ import annotations

from typing import Annotated

import msgspec

from kith.base.caches import UntilWritten
from kith.base.exchange import JSON, Answer, Exchange
from kith.base.limits import Limiter, LimitRule
from kith.base.params import BodyLimits, Upload
from kith.base.routing import FromPath, FromRequest, RequestBody, delete, get, post, put
from kith.base.work import Work
from kith.social.accounts.viewers import Me
from kith.social.guards import user
from kith.social.media import service
from kith.social.media.entities import MediaAttachment, render_media
from kith.social.media.store import READY
from kith.social.media.tables import Media

UPLOADS = LimitRule("media", most=30, seconds=1800)
WITH_THUMBNAIL = BodyLimits(max_file_bytes=20 * 1024 * 1024, max_files=1)


class MediaForm(msgspec.Struct, kw_only=True):
    file: Upload | None = None
    thumbnail: Upload | None = None
    description: str | None = None
    focus: str | None = None


class ChangedMedia(msgspec.Struct, kw_only=True):
    thumbnail: Upload | None = None
    description: str | None = None
    focus: str | None = None


class _Counted:
    """Marks a request whose upload was counted: guards are asked again where its body comes slowly."""


async def not_too_many(exchange: Exchange) -> None:
    """Count an upload before its file is read."""
    if _Counted in exchange.kept:
        return
    exchange.kept[_Counted] = True
    spent = exchange.find(Limiter).spend(UPLOADS, str(exchange.user_id))
    if spent is not None and (exchange.spent is None or spent.remaining < exchange.spent.remaining):
        exchange.spent = spent


@post("/api/v1/media", status=200, guards=[user("write:media"), not_too_many])
async def upload_and_wait(work: Work, me: Me, sent: FromRequest[MediaForm]) -> MediaAttachment:
    row = await service.upload(work, me, _new(sent), wait=True)
    return render_media(work.settings, [row])[0]


@post("/api/v2/media", guards=[user("write:media"), not_too_many])
async def upload(work: Work, me: Me, sent: FromRequest[MediaForm]) -> Answer:
    row = await service.upload(work, me, _new(sent), wait=False)
    return _answer(work, row, unfinished=202)


@get("/api/v1/media/{id}", guards=[user("write:media")])
async def show_media(work: Work, me: Me, id: FromPath[int]) -> Answer:
    """Asked again and again while a video is made ready: what it says is kept while nobody writes."""
    kept, key = work.find(UntilWritten), ("media", me, id)
    version = kept.now()
    found: Answer | None = None if version is None else kept.get(version, key)
    if found is None:
        found = _answer(work, await service.find_own(work, me, id), unfinished=206)
        kept.put(version, key, found, size=len(found.body))
    return found


@put("/api/v1/media/{id}", guards=[user("write:media")])
async def change_media(
    work: Work, me: Me, id: FromPath[int], sent: Annotated[ChangedMedia, RequestBody(WITH_THUMBNAIL)]
) -> Answer:
    thumbnail = sent.thumbnail.file if sent.thumbnail else None
    change = service.MediaChange(sent.description, sent.focus, thumbnail)
    return _answer(work, await service.change(work, me, id, change), unfinished=206)


@delete("/api/v1/media/{id}", status=200, guards=[user("write:media")])
async def delete_media(work: Work, me: Me, id: FromPath[int]) -> dict[str, str]:
    await service.delete(work, me, id)
    return {}


def _new(sent: MediaForm) -> service.NewMedia:
    return service.NewMedia(
        file=sent.file.file if sent.file else None,
        thumbnail=sent.thumbnail.file if sent.thumbnail else None,
        description=sent.description,
        focus=sent.focus,
    )


def _answer(work: Work, row: Media, *, unfinished: int) -> Answer:
    status = 200 if row.state == READY else unfinished
    return Answer(status, JSON, msgspec.json.encode(render_media(work.settings, [row])[0]))


routes = [upload_and_wait, upload, show_media, change_media, delete_media]
