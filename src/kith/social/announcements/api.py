from __future__ import annotations

from typing import Any

import msgspec

from kith.base.routing import FromPath, FromQuery, delete, get, post, put
from kith.base.work import Work
from kith.social.accounts.viewers import Me
from kith.social.announcements import service
from kith.social.announcements.entities import render_all
from kith.social.guards import user

REACT = user("write:favourites")


class WhichAnnouncements(msgspec.Struct, kw_only=True):
    with_dismissed: bool = False


@get("/api/v1/announcements", guards=[user()])
async def show_announcements(work: Work, me: Me, which: FromQuery[WhichAnnouncements]) -> list[dict[str, Any]]:
    shown, read = await service.shown_to(work, me, with_read=which.with_dismissed)
    return await render_all(work, shown, me, read)


@post("/api/v1/announcements/{id}/dismiss", guards=[user("write:accounts")])
async def dismiss(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    await service.dismiss(work, me, id)
    return {}


@put("/api/v1/announcements/{id}/reactions/{name}", guards=[REACT])
async def react(work: Work, me: Me, id: FromPath[int], name: FromPath[str]) -> dict[str, Any]:
    await service.react(work, me, id, name)
    return {}


@delete("/api/v1/announcements/{id}/reactions/{name}", guards=[REACT])
async def unreact(work: Work, me: Me, id: FromPath[int], name: FromPath[str]) -> dict[str, Any]:
    await service.unreact(work, me, id, name)
    return {}


routes = [show_announcements, dismiss, react, unreact]
