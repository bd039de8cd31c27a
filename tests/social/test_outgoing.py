"""Whatever the social half asks of other servers, nobody can turn it against a server inside."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from kith.social.files.fetches import PICTURES_EACH
from tests.conftest import TownBuilder
from tests.social.members import join, stranger
from tests.social.posts import post, settle
from tests.social.samples import image_file
from tests.social.test_mirror import attached
from tests.sources import tree_of

AT_ONCE = PICTURES_EACH["host"]
SOURCES = Path(__file__).parents[2] / "src" / "kith"
# The ways out of a program. Only `base/http` goes them, which looks at every address it connects to.
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
WAYS_OUT = {"aiohttp", "httpx", "requests", "urllib3", "urllib.request", "http.client", "socket", "asyncio.streams"}


def test_the_social_half_asks_through_the_guarded_client_alone() -> None:
    found = []
    for page in SOURCES.glob("social/**/*.py"):
        for node in ast.walk(tree_of(page)):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            opened = isinstance(node, ast.Attribute) and node.attr in ("open_connection", "create_connection")
            if WAYS_OUT.intersection(names) or opened:
                found.append(f"{page.relative_to(SOURCES)}:{getattr(node, 'lineno', 0)}")
    assert found == []


@asynccontextmanager
async def site(host: str, answer: Handler) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        place = web.TCPSite(runner, host, 0)
        await place.start()
        yield f"http://{host}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("translated", [False, True])
async def test_no_call_reaches_a_server_inside(new_town: TownBuilder, translated: bool) -> None:
    """Straight, by a redirect, by a part of a page, or by a name that is an address in disguise."""
    reached: list[str] = []
    inside = ""

    async def secret(request: web.Request) -> web.Response:
        reached.append(request.path)
        return web.Response(body=image_file("PNG"), content_type="image/png")

    async def outside(request: web.Request) -> web.Response:
        if request.path.startswith("/to/") or translated:
            raise web.HTTPFound(f"{inside}/{request.path.rpartition('/')[2]}")
        page = (
            f"<title>A page</title><meta property='og:image' content='{inside}/image'>"
            f"<link type='application/json+oembed' href='{inside}/oembed'>"
            f"<a rel='me' href='{inside}'>me</a>"
        )
        return web.Response(text=page, content_type="text/html")

    async with AsyncExitStack() as stack:
        inside = await stack.enter_async_context(site("127.0.0.2", secret))
        base = await stack.enter_async_context(site("127.0.0.1", outside))
        settings = {"translator": "libretranslate", "translator_url": f"{base}/to"} if translated else {}
        town = await new_town(private_hosts="127.0.0.1", **settings)
        ada = await join(town)
        port = inside.rpartition(":")[2]
        spelled = (inside, f"http://2130706434:{port}", f"http://[::ffff:127.0.0.2]:{port}", f"http://0x7f.2:{port}")
        if translated:
            made = await post(ada, "Katze", language="de")
            answer = await ada.call("POST", f"/api/v1/statuses/{made['id']}/translate", json={"lang": "en"})
            assert answer.status_code == 503
            assert (await town.http.get("/api/v1/instance/translation_languages")).status_code == 503
        else:
            # Previews of links: the page, what it offers to embed, and its picture.
            for url in (f"{base}/to/page", f"{base}/page", *spelled):
                await post(ada, f"look {url}/")
            # Links on a profile.
            for url in (f"{base}/to/link", *spelled[:2]):
                rows = [{"name": "Site", "value": url}]
                await ada.patch("/api/v1/accounts/update_credentials", json={"fields_attributes": rows})
                await settle(town)
            # Files of posts from elsewhere, pictures and what plays.
            far = await stranger(town)
            for kind in ("image", "video"):
                for url in (f"{base}/to/file", *(f"{one}/file" for one in spelled)):
                    _, id = await attached(town, far, url, kind)
                    answer = await town.http.get(f"/media_proxy/{id}/original", follow_redirects=False)
                    assert answer.status_code == (404 if kind == "image" else 302), url
            await settle(town)
        assert reached == []


async def test_the_proxy_fetches_nothing_that_a_visitor_names(new_town: TownBuilder) -> None:
    reached: list[str] = []

    async def there(request: web.Request) -> web.Response:
        reached.append(request.path)
        return web.Response(body=image_file("PNG"), content_type="image/png")

    async with site("127.0.0.1", there) as base:
        town = await new_town(private_hosts="127.0.0.1")
        far = await stranger(town)
        _, id = await attached(town, far, f"{base}/kept")
        for path in (
            f"/media_proxy/{base}/x",
            f"/media_proxy/{base.replace('/', '%2F')}/original",
            "/media_proxy/-1/original",
            f"/media_proxy/{id}/original/{base}",
            "/media_proxy/1/original",
            f"/media_proxy/{'9' * 40}/original",
        ):
            assert (await town.http.get(path, params={"url": f"{base}/other"})).status_code == 404, path
        answer = await town.http.get(f"/media_proxy/{id}/original", params={"url": f"{base}/other"})
        assert answer.status_code == 302
        assert reached == ["/kept"]


async def test_only_so_many_pictures_of_one_host_are_fetched_at_once(new_town: TownBuilder) -> None:
    here = most = 0
    full = asyncio.Event()

    async def there(_request: web.Request) -> web.Response:
        nonlocal here, most
        here += 1
        most = max(most, here)
        if here == AT_ONCE:
            full.set()
        await full.wait()
        here -= 1
        return web.Response(body=image_file("PNG"), content_type="image/png")

    async with site("127.0.0.1", there) as base:
        town = await new_town(private_hosts="127.0.0.1")
        far = await stranger(town)
        files = [(await attached(town, far, f"{base}/{number}"))[1] for number in range(AT_ONCE + 6)]
        answers = await asyncio.gather(*(town.http.get(f"/media_proxy/{id}/small") for id in files))
        assert [answer.status_code for answer in answers] == [302] * len(files)
        assert most == AT_ONCE
