"""One host or one caller who takes all the time in the world: everybody else's work goes on meanwhile.

Nothing here is measured in seconds. What is slow is held open until everything else has come to its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx
import msgspec
import pytest
from aiohttp import web
from sqlalchemy import and_, delete

from kith.base.db import command, insert_into
from kith.base.http.client import CALLS_EACH
from kith.base.jobs.kinds import QUICK
from kith.base.jobs.tables import READY, jobs
from kith.federation.inbox import store as inbox
from kith.federation.inbox.tables import NOBODY, WAITING, Received
from kith.federation.inbox.tasks import TAKE, TakeWaiting
from kith.federation.signatures.digests import sha256
from kith.federation.signatures.signing import RequestToSign, Signer, SigningScheme, sign
from kith.social.accounts import store as accounts
from kith.social.accounts.remote_pictures import columns
from kith.social.accounts.tables import Account
from kith.social.emojis.remote_files import key_of
from kith.social.emojis.tables import Emoji, emojis
from kith.social.files.fetches import FILMS_EACH, PICTURES_EACH
from kith.social.media import store as media
from tests.federation.neighbour import ACTIVITY, private_key
from tests.federation.receiving import AS, create, note_of, somebody
from tests.social.members import Member, join, stranger
from tests.social.samples import image_file, video
from tests.social.test_mirror import attached
from tests.town import Town, build_town
from tests.town.named import NamedTown
from tests.town.plain import PLAIN

DEAD_POSTS = 40
MANY_POSTS = 200
_forget_jobs = command(delete(jobs).where(and_(jobs.c.lane != QUICK, jobs.c.state == READY)))
_add_emoji = command(insert_into(emojis))
PATIENCE = 30.0


class Files:
    """A server with a picture and a film. Below `/drip` both begin, and do not end before the server does."""

    def __init__(self) -> None:
        self.port = 0
        self.asked: list[str] = []
        self._ends = asyncio.Event()
        self._dripping: list[web.Request] = []
        self._content = {"picture": image_file("PNG"), "film": video()}

    @property
    def dripping(self) -> int:
        """How many of those that drip are still waited for."""
        return sum(1 for one in self._dripping if one.transport is not None and not one.transport.is_closing())

    async def until_dripping(self, count: int) -> None:
        while self.dripping < count:
            await asyncio.sleep(0.02)

    async def show(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        content = self._content["film" if "film" in request.path else "picture"]
        if not request.path.startswith("/drip"):
            return web.Response(body=content, content_type="application/octet-stream")
        answer = web.StreamResponse(headers={"Content-Length": str(len(content)), "Content-Type": _wanted(request)})
        await answer.prepare(request)
        await answer.write(content[:10])
        self._dripping.append(request)
        await self._ends.wait()
        return answer

    def end(self) -> None:
        self._ends.set()


def _wanted(request: web.Request) -> str:
    """Of what type the answer should be for whoever asks to read it to its end."""
    accepted = request.headers.get("Accept", "")
    return next((one for one in (ACTIVITY, "text/html") if one in accepted), "application/octet-stream")


@asynccontextmanager
async def files() -> AsyncIterator[Files]:
    served, app = Files(), web.Application()
    app.router.add_get("/{path:.*}", served.show)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        place = web.TCPSite(runner, "127.0.0.1", 0)
        await place.start()
        served.port = runner.addresses[0][1]
        yield served
    finally:
        served.end()
        await runner.cleanup()


@pytest.fixture(scope="module")
async def named(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[NamedTown]:
    """On one database: names are looked up beside it."""
    settings: dict[str, Any] = {"private_hosts": "127.0.0.1", "trusted_proxies": "127.0.0.1"}
    folder = tmp_path_factory.mktemp("named")
    async with build_town("sqlite", folder, kind=NamedTown, **settings) as town:
        assert isinstance(town, NamedTown)
        yield town


def worthless(town: Town, number: int, host: str, address: str) -> httpx.Request:
    """An activity that nobody has signed whose name can be found."""
    body = b'{"id":"https://x.example/1","type":"Like"}'
    signer = Signer(f"https://{host}/users/{number}#main-key", private_key(1))
    url = f"{town.base_url}/inbox"
    headers = {"content-type": ACTIVITY}
    signed = sign(signer, RequestToSign("POST", url, sha256(body), headers), SigningScheme.CAVAGE, datetime.now(UTC))
    return httpx.Request("POST", url, headers=signed | {"x-forwarded-for": address}, content=body)


@pytest.mark.parametrize("of", ["one domain", "many domains"])
async def test_dead_names_of_strangers_hold_up_no_look_up_of_others(named: NamedTown, of: str) -> None:
    """Forty worthless posts to the inbox: their keys are at hosts whose name servers do not answer."""
    hosts = [f"a{n}.dead.example" if of == "one domain" else f"dead{n}.example" for n in range(DEAD_POSTS)]
    address = f"203.0.113.{len(of)}"
    before = named.dead_names
    async with files() as innocent, httpx.AsyncClient(timeout=60, verify=PLAIN) as attacker:
        far = await stranger(named)
        _, id = await attached(named, far, f"http://innocent.example:{innocent.port}/picture")
        posts = [asyncio.create_task(attacker.send(worthless(named, n, host, address))) for n, host in enumerate(hosts)]
        await named.until_dead_names(before + 4)

        async with asyncio.timeout(PATIENCE):
            looked = await named.http.get(f"/media_proxy/{id}/small")

        assert looked.status_code == 302, looked.text
        assert innocent.asked == ["/picture"]
        still_held = [one for one in posts if not one.done()]
        assert len(still_held) >= 4
        assert {one.result().status_code for one in posts if one.done()} <= {503}
        for one in still_held:
            one.cancel()
        await asyncio.gather(*still_held, return_exceptions=True)


async def _look(town: Town, path: str) -> int:
    return (await town.http.get(path)).status_code


async def test_dripping_pictures_of_one_host_hold_up_no_pictures_of_others(named: NamedTown) -> None:
    """Attachments, avatars and emoji have the same places: of one host's, some are left to all others."""
    async with files() as hostile, files() as innocent:
        town, far = named, await stranger(named)
        slow = [(await attached(town, far, f"http://127.0.0.1:{hostile.port}/drip/{n}"))[1] for n in range(16)]
        _, id = await attached(town, far, f"http://127.0.0.1:{innocent.port}/picture")
        face = await _face(town, f"http://127.0.0.1:{innocent.port}/face.png")
        emoji = await _emoji(town, f"http://127.0.0.1:{innocent.port}/emoji.png")
        looking = [asyncio.create_task(_look(town, f"/media_proxy/{one}/small")) for one in slow]
        await hostile.until_dripping(PICTURES_EACH["host"])

        async with asyncio.timeout(PATIENCE):
            seen = [await _look(town, path) for path in (f"/media_proxy/{id}/small", face, emoji)]

        assert seen == [302, 200, 200]
        assert not all(one.done() for one in looking)
        assert len(set(hostile.asked)) <= 2 * PICTURES_EACH["host"]
        for one in looking:
            one.cancel()
        await asyncio.gather(*looking, return_exceptions=True)


async def _face(town: Town, url: str) -> str:
    """The address of somebody's avatar that was not fetched yet."""
    far = await stranger(town)
    async with town.house() as house, house.works.begin() as work:
        values = columns(far, "avatar", (url, ""))
        await accounts.change(work.db, far.id, values, work.now)
    return f"/media/{values['avatar']}"


async def _emoji(town: Town, url: str) -> str:
    async with town.house() as house, house.works.begin() as work:
        made = Emoji(work.new_id(), "slow", "slow.example", url, url, None, True, False, None, work.now)
        await work.db.run(_add_emoji, **msgspec.structs.asdict(made))
    return f"/media/{key_of(made)}"


async def test_a_dripping_film_holds_up_no_films_of_others(named: NamedTown) -> None:
    async with files() as hostile, files() as innocent:
        town, far = named, await stranger(named)
        for n in range(3):
            _, id = await attached(town, far, f"http://127.0.0.1:{hostile.port}/drip/film{n}", "video")
            assert (await town.http.get(f"/media_proxy/{id}/original")).status_code == 302
        await hostile.until_dripping(1)
        _, id = await attached(town, far, f"http://127.0.0.1:{innocent.port}/film", "video")

        async with asyncio.timeout(PATIENCE):
            while not await _is_here(town, id):
                await _look(town, f"/media_proxy/{id}/original")
                await asyncio.sleep(0.1)

        assert hostile.dripping <= FILMS_EACH["host"]


async def _is_here(town: Town, id: str) -> bool:
    async with town.house() as house, house.works.begin() as work:
        row = await media.find(work.db, int(id))
        return row is not None and bool(row.file)


# What one post says that has another server asked.
LEADS: dict[str, Callable[[str], dict[str, Any]]] = {
    "parents": lambda url: {"inReplyTo": url},
    "quotes": lambda url: {"quoteUrl": url},
    "mentions": lambda url: {"tag": [{"type": "Mention", "href": url, "name": "@x"}]},
    "links": lambda url: {"content": f'<p><a href="{url}">{url}</a></p>'},
}


@pytest.mark.parametrize("leads_to", LEADS)
async def test_many_posts_that_name_a_dripping_host_hold_up_no_posts_of_others(named: NamedTown, leads_to: str) -> None:
    """Two hundred of one server: another server's only post does not wait until they are done."""
    member = await join(named)
    evil, good = await somebody(named, f"evil-{leads_to}.example"), await somebody(named, f"good-{leads_to}.example")
    async with files() as hostile, files() as innocent:
        drips = [f"http://127.0.0.1:{hostile.port}/drip/{n}" for n in range(MANY_POSTS)]
        await _posted(named, evil, member, [LEADS[leads_to](url) for url in drips])
        async with asyncio.timeout(PATIENCE):
            await hostile.until_dripping(CALLS_EACH["job"])
        await _posted(named, good, member, [LEADS[leads_to](f"http://127.0.0.1:{innocent.port}/picture")])

        async with asyncio.timeout(PATIENCE):
            while not innocent.asked:
                await asyncio.sleep(0.02)

        assert len(hostile.asked) <= 3 * CALLS_EACH["job"]  # not one after the other
        async with named.house() as house, house.works.begin() as work:
            await work.db.run(_forget_jobs)  # what waits for the host


async def _posted(town: Town, author: Account, reader: Member, notes: list[dict[str, Any]]) -> None:
    """As if `author` had sent them to the inbox."""
    async with town.house() as house, house.works.begin() as work:
        rows = []
        for changes in notes:
            note = note_of(author, str(work.new_id()), cc=[reader.me["uri"]], **changes)
            sent = {"@context": AS, **create(author, note)}
            body = msgspec.json.encode(sent).decode()
            at = work.now
            rows.append(Received(work.new_id(), author.id, sent["id"], NOBODY, body, None, WAITING, at, at))
        await inbox.add(work.db, rows)
        work.enqueue(TAKE, TakeWaiting())
