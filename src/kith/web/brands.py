"""/static/brand/: what brands bring along for their pages. The address changes with the content."""

from __future__ import annotations

from kith.base.exchange import Answer, Headers, whole
from kith.base.routing import FromPath, get
from kith.base.work import Work
from kith.identity import for_pages as identity

DAY: Headers = ((b"cache-control", b"public, max-age=86400"),)


@get("/static/brand/{id}/{name}")
async def show_file(work: Work, id: FromPath[str], name: FromPath[str]) -> Answer:
    content_type, body = await identity.brands.find_file(work, id, name)
    return whole(body, content_type, headers=DAY)


routes = [show_file]
