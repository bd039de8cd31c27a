from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import NotFound
from kith.base.routing import FromQuery, get
from kith.base.work import Work
from kith.social.guards import outsider
from kith.social.oembed import service
from kith.social.oembed.entities import render_embedded

WIDTH, WIDEST = 400, 10_000


class OEmbedQuery(msgspec.Struct, kw_only=True):
    url: str = ""
    maxwidth: int = WIDTH
    maxheight: int | None = None
    format: str = "json"


@get("/api/oembed", guards=[outsider])
async def show_embedded(work: Work, asked: FromQuery[OEmbedQuery]) -> dict[str, Any]:
    if asked.format != "json":
        raise NotFound
    found = await service.find(work, asked.url)
    width = asked.maxwidth if 0 < asked.maxwidth <= WIDEST else WIDTH
    height = asked.maxheight if asked.maxheight is not None and 0 < asked.maxheight <= WIDEST else None
    return render_embedded(work.settings, found.status, found.author, width=width, height=height)


routes = [show_embedded]
