from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from kith.base.settings import Settings
from kith.base.work import Work
from kith.social.addresses import file_url
from kith.social.media import store
from kith.social.media.tables import Media


class MediaAttachment(msgspec.Struct):
    id: str
    type: str
    url: str | None
    preview_url: str | None
    remote_url: str | None
    preview_remote_url: str | None
    text_url: str | None
    meta: dict[str, Any] | None
    description: str | None
    blurhash: str | None


def render_media(settings: Settings, rows: Iterable[Media]) -> list[MediaAttachment]:
    return [
        MediaAttachment(
            id=str(row.id),
            type=row.kind,
            url=_url(settings, row.file) or _fetched(settings, row, "original"),
            preview_url=_url(settings, row.preview) or _fetched(settings, row, "small"),
            remote_url=row.remote_url,
            preview_remote_url=row.preview_remote_url,
            text_url=None,
            meta=row.meta,
            description=row.description,
            blurhash=row.blurhash,
        )
        for row in rows
    ]


def _fetched(settings: Settings, row: Media, size: str) -> str | None:
    """Where something that is kept elsewhere is fetched through us; what we cannot show is only linked to."""
    if row.kind == "unknown":
        return row.remote_url if size == "original" else None
    if row.file or row.remote_url is None or (size == "small" and row.kind != "image" and not row.preview_remote_url):
        return None
    return f"{settings.base_url}/media_proxy/{row.id}/{size}"


def _url(settings: Settings, key: str) -> str | None:
    return file_url(settings, key) if key else None


async def render(work: Work, ids: Sequence[int]) -> dict[int, MediaAttachment]:
    """Attachments by their ids; one that is gone is left out."""
    rows = await store.of_ids(work.db, ids)
    return dict(zip(rows, render_media(work.settings, rows.values()), strict=True))
