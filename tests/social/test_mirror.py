"""Attachments of posts from elsewhere are fetched when somebody looks at them, and kept."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from aiohttp import web
from aiohttp.test_utils import TestServer
from PIL import Image
from sqlalchemy import bindparam, update

from kith.base.db import command
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId, StatusId
from kith.social.media import store as media
from kith.social.media.tables import Media
from kith.social.relationships import store as relationships
from kith.social.relationships.tables import Follow
from kith.social.statuses.tables import PRIVATE, statuses
from tests.conftest import TownBuilder
from tests.social import samples
from tests.social.members import join, stranger
from tests.social.posts import said_elsewhere, settle
from tests.social.shapes import MEDIA, check
from tests.town import Town

_give = command(
    update(statuses)
    .where(statuses.c.id == bindparam("status"))
    .values(media_ids=bindparam("ids", type_=statuses.c.media_ids.type))
)


@asynccontextmanager
async def elsewhere() -> AsyncIterator[tuple[str, list[str]]]:
    """A server with files, and what was asked of it."""
    asked: list[str] = []
    files = {
        "/picture": samples.image_file("PNG", (900, 600)),
        "/dance": samples.gif(3),
        "/film": samples.video(),
        "/text": b"<html>x</html>",
        "/huge": b"\x89PNG\r\n\x1a\n" + bytes(17 << 20),
    }

    async def show(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        if request.path == "/inward":
            raise web.HTTPFound("http://10.0.0.1/")
        if request.path == "/broken":
            raise web.HTTPBadGateway
        if request.path not in files:
            raise web.HTTPNotFound
        return web.Response(body=files[request.path], content_type="application/octet-stream")

    app = web.Application()
    app.router.add_get("/{path:.*}", show)
    async with TestServer(app) as server:
        yield f"http://127.0.0.1:{server.port}", asked


async def attached(town: Town, author: Account, url: str, kind: str = "image", **said: Any) -> tuple[str, str]:
    """A post from elsewhere with one file that was not fetched: the post's id, and the file's."""
    preview = said.pop("preview", None)
    status_id = await said_elsewhere(town, author, **said)
    async with town.house() as house, house.works.begin() as work:
        id = work.new_id()
        meta = {"focus": {"x": 0.5, "y": 0.0}, "original": {"width": 1, "height": 1, "size": "1x1", "aspect": 1.0}}
        row = Media(
            id=id,
            account_id=author.id,
            status_id=StatusId(int(status_id)),
            scheduled_id=None,
            kind=kind,
            state="ready",
            file="",
            preview="",
            source="",
            mime="",
            description="far",
            meta=meta,
            blurhash=None,
            remote_url=url,
            preview_remote_url=preview,
            error="",
            created_at=work.now,
        )
        await media.insert(work.db, row)
        await work.db.run(_give, status=int(status_id), ids=[id])
    return status_id, str(id)


async def _looks(town: Town, id: str, size: str = "original", **options: Any) -> httpx.Response:
    return await town.http.get(f"/media_proxy/{id}/{size}", **options)


async def _shown(town: Town, status_id: str) -> dict[str, Any]:
    [shown] = (await town.http.get(f"/api/v1/statuses/{status_id}")).json()["media_attachments"]
    check(shown, MEDIA)
    return dict(shown)


async def test_a_picture_is_fetched_once_and_kept(new_town: TownBuilder) -> None:
    async with elsewhere() as (base, asked):
        # given
        town = await new_town(private_hosts="127.0.0.1")
        far = await stranger(town)
        status_id, id = await attached(town, far, f"{base}/picture")
        shown = await _shown(town, status_id)
        assert shown["url"] == f"{town.base_url}/media_proxy/{id}/original"
        assert shown["preview_url"] == f"{town.base_url}/media_proxy/{id}/small"
        assert shown["remote_url"] == f"{base}/picture"

        # when
        large, small = await _looks(town, id), await _looks(town, id, "small")

        # then
        assert (large.status_code, small.status_code, asked) == (302, 302, ["/picture"])
        for answer, width in ((large, 900), (small, 587)):
            file = await town.http.get(answer.headers["location"])
            assert (file.status_code, file.headers["content-type"]) == (200, "image/png")
            assert abs(Image.open(io.BytesIO(file.content)).width - width) < 3
        async with town.house() as house, house.works.begin() as work:
            row = await media.find(work.db, int(id))
            assert row is not None
        assert (row.meta["original"]["width"], row.meta["focus"], row.description) == (900, {"x": 0.5, "y": 0.0}, "far")
        assert row.blurhash is not None


async def test_what_plays_is_fetched_by_a_job(new_town: TownBuilder) -> None:
    async with elsewhere() as (base, asked):
        town = await new_town(private_hosts="127.0.0.1")
        far = await stranger(town)
        _, film = await attached(town, far, f"{base}/film", "video", preview=f"{base}/picture")
        _, dance = await attached(town, far, f"{base}/dance")
        silent, song = await attached(town, far, f"{base}/song", "audio")

        assert (await _shown(town, silent))["preview_url"] is None
        first = [await _looks(town, film), await _looks(town, film, "small"), await _looks(town, dance)]
        assert [answer.headers["location"] for answer in first] == [
            f"{base}/{it}" for it in ("film", "picture", "dance")
        ]
        assert (await _looks(town, song, "small")).status_code == 404
        for opened_as in ("document", "iframe"):  # else a link of ours leads to any page
            assert (await _looks(town, film, headers={"sec-fetch-dest": opened_as})).status_code == 404
        await settle(town)

        asked.clear()
        for id, kind in ((film, "video/mp4"), (dance, "video/mp4")):
            there = (await _looks(town, id)).headers["location"]
            assert (await town.http.get(there)).headers["content-type"] == kind
            assert (await town.http.get((await _looks(town, id, "small")).headers["location"])).status_code == 200
        assert asked == []


async def test_what_cannot_be_had_is_said(new_town: TownBuilder) -> None:
    async with elsewhere() as (base, asked):
        town = await new_town(private_hosts="127.0.0.1", rate_limits="on")
        far = await stranger(town)
        expected = {
            f"{base}/nothing": 404,
            f"{base}/text": 404,
            f"{base}/huge": 404,
            f"{base}/inward": 404,
            "http://10.0.0.1/picture": 404,
            "ftp://x.example/": 404,
            f"{base}/broken": 503,
        }
        for url, status in expected.items():
            _, id = await attached(town, far, url)
            assert (await _looks(town, id)).status_code == status, url
        _, id = await attached(town, far, f"{base}/picture", "unknown")
        asked.clear()
        assert [
            (await _looks(town, one, size)).status_code for one, size in ((id, "original"), (id, "x"), ("1", "small"))
        ] == [404] * 3
        assert asked == []
        answers = [(await _looks(town, "1")).status_code for _ in range(30)]
        assert (answers[0], answers[-1]) == (404, 429)


async def test_only_who_may_see_the_post_sees_what_belongs_to_it(new_town: TownBuilder) -> None:
    async with elsewhere() as (base, asked):
        town = await new_town(private_hosts="127.0.0.1")
        far = await stranger(town)
        ada = await join(town)
        _, id = await attached(town, far, f"{base}/picture", visibility=PRIVATE)
        async with town.house() as house, house.works.begin() as work:
            follow = Follow(
                id=work.new_id(),
                account_id=AccountId(int(ada.id)),
                target_id=far.id,
                reblogs=True,
                notify=False,
                languages=None,
                uri="",
                created_at=work.now,
            )
            assert await relationships.add_follow(work.db, follow)

        assert (await _looks(town, id)).status_code == 404
        assert asked == []
        assert (await _looks(town, id, headers={"Authorization": f"Bearer {ada.token}"})).status_code == 302


async def test_nothing_is_fetched_from_a_server_whose_media_the_team_rejects(new_town: TownBuilder) -> None:
    async with elsewhere() as (base, asked):
        town = await new_town(private_hosts="127.0.0.1")
        _, id = await attached(town, await stranger(town, "pictures.example"), f"{base}/picture")
        await town.kith("domains", "block", "pictures.example", "--severity", "noop", "--reject-media")

        assert (await _looks(town, id)).status_code == 404
        await town.kith("domains", "unblock", "pictures.example")
        assert (await _looks(town, id)).status_code == 302
    assert asked == ["/picture"]
