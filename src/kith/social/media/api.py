from __future__ import annotations

from typing import Any

import msgspec
from litestar import Response, delete, get, post, put
from litestar.connection import ASGIConnection
from litestar.di import NamedDependency
from litestar.handlers import BaseRouteHandler
from litestar.params import FromPath

from kith.base.edge import exchange_of
from kith.base.limits import Limiter, Rule
from kith.base.params import Upload, params
from kith.base.work import Work
from kith.social.accounts import faces
from kith.social.guards import Member, user
from kith.social.media import service
from kith.social.media.entities import MediaAttachment, render_media
from kith.social.media.store import READY
from kith.social.media.tables import Media

UPLOADS = Rule("media", most=30, seconds=1800)


class Sent(msgspec.Struct, kw_only=True):
    file: Upload | None = None
    thumbnail: Upload | None = None
    description: str | None = None
    focus: str | None = None


class Changed(msgspec.Struct, kw_only=True):
    thumbnail: Upload | None = None
    description: str | None = None
    focus: str | None = None


async def not_too_many(connection: ASGIConnection[Any, Any, Any, Any], _handler: BaseRouteHandler) -> None:
    """Counted before the file is read."""
    exchange = exchange_of(connection)
    spent = exchange.find(Limiter).spend(UPLOADS, str(exchange.user_id))
    if spent is not None and (exchange.spent is None or spent.remaining < exchange.spent.remaining):
        exchange.spent = spent


@post(
    "/api/v1/media",
    status_code=200,
    guards=[user("write:media"), not_too_many],
    dependencies={"sent": params(Sent)},
)
async def upload_and_wait(
    work: NamedDependency[Work], me: NamedDependency[Member], sent: NamedDependency[Sent]
) -> MediaAttachment:
    row = await service.upload(work, await faces.id_of(work, me.id), _new(sent), wait=True)
    return render_media(work.settings, [row])[0]


@post("/api/v2/media", guards=[user("write:media"), not_too_many], dependencies={"sent": params(Sent)})
async def upload(
    work: NamedDependency[Work], me: NamedDependency[Member], sent: NamedDependency[Sent]
) -> Response[MediaAttachment]:
    row = await service.upload(work, await faces.id_of(work, me.id), _new(sent), wait=False)
    return _answer(work, row, unfinished=202)


@get("/api/v1/media/{id:str}", guards=[user("write:media")])
async def show_media(
    work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> Response[MediaAttachment]:
    return _answer(work, await service.find_own(work, await faces.id_of(work, me.id), number(id)), unfinished=206)


@put("/api/v1/media/{id:str}", guards=[user("write:media")], dependencies={"sent": params(Changed)})
async def change_media(
    work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str], sent: NamedDependency[Changed]
) -> Response[MediaAttachment]:
    thumbnail = sent.thumbnail.file if sent.thumbnail else None
    change = service.Change(sent.description, sent.focus, thumbnail)
    return _answer(work, await service.change(work, await faces.id_of(work, me.id), number(id), change), unfinished=206)


@delete("/api/v1/media/{id:str}", status_code=200, guards=[user("write:media")])
async def delete_media(work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]) -> dict[str, str]:
    await service.delete(work, await faces.id_of(work, me.id), number(id))
    return {}


def number(id: str) -> int:
    """What is no number is nobody's."""
    return int(id) if id.isascii() and id.isdigit() and len(id) < 19 else 0


def _new(sent: Sent) -> service.New:
    return service.New(
        file=sent.file.file if sent.file else None,
        thumbnail=sent.thumbnail.file if sent.thumbnail else None,
        description=sent.description,
        focus=sent.focus,
    )


def _answer(work: Work, row: Media, *, unfinished: int) -> Response[MediaAttachment]:
    status = 200 if row.state == READY else unfinished
    return Response(render_media(work.settings, [row])[0], status_code=status)


routes = [upload_and_wait, upload, show_media, change_media, delete_media]
