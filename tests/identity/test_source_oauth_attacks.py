"""A server of the fediverse that does not mean well: whatever it says of somebody, the answer is a page with words."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from sqlalchemy import bindparam, select

from kith.base.db import command, insert_into, query
from kith.identity.sources.family import sources
from kith.identity.sources.oauth.answers import cleaned
from kith.identity.sources.oauth.fediverse import FORGOTTEN_AT_ONCE, MOST_APPS
from kith.identity.sources.tables import remote_apps
from tests.identity.flow_browser import Browser
from tests.identity.records import make, new_name, owner_of, results
from tests.town import Town, build_town
from tests.town.town import Engine

ANSWERS: dict[str, dict[str, Any]] = {
    "/api/v1/apps": {"client_id": "us", "client_secret": "secret"},
    "/oauth/token": {"access_token": "token"},
    "/api/v1/accounts/verify_credentials": {"id": "7", "username": "mallory", "display_name": "M"},
}
PROFILE = "/api/v1/accounts/verify_credentials"


@pytest.fixture(scope="module")
async def here(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    async with build_town(engine, tmp_path_factory.mktemp("here"), private_hosts="127.0.0.1") as built:
        yield built


@asynccontextmanager
async def hostile_server(answers: dict[str, Any], heard: list[str] | None = None) -> AsyncIterator[str]:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            path = head.split(" ")[1].partition("?")[0]
            told = answers.get(path)
            if heard is not None:
                heard.append(path)
            body = told if isinstance(told, bytes) else json.dumps(told).encode()
            status = b"404 Not Found" if told is None else b"200 OK"
            writer.write(
                b"HTTP/1.1 %b\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b" % (status, len(body), body)
            )
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def fediverse(town: Town) -> str:
    owner = await owner_of(town)
    named = {flow["slug"]: flow["pk"] for flow in await results(owner, "/flows/instances/")}
    made = await make(
        owner, "/sources/oauth/", name=new_name("Fediverse"), slug=new_name("fedi"), provider_type="mastodon",
        authentication_flow=named["default-source-authentication"], enrollment_flow=named["default-source-enrollment"],
    )  # fmt: skip
    return str(made["slug"])


async def come_in(town: Town, slug: str, host: str) -> int:
    """How it ended: 302 is on to the flow."""
    browser = Browser(town)
    begun = await browser.http.get(f"/source/oauth/login/{slug}/", params={"server": host})
    if begun.status_code != 302:
        return begun.status_code
    asked = asked_of(begun.headers["location"])
    back = await browser.http.get(asked["redirect_uri"], params={"code": "c", "state": asked["state"]})
    return back.status_code


def asked_of(address: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(address).query))


@pytest.mark.parametrize(
    ("path", "told", "status"),
    [
        (PROFILE, {"id": "7", "username": "mallory", "display_name": "a\0b", "url": "\0"}, 302),
        (PROFILE, {"id": "8\0", "username": "ma\0llory"}, 302),
        (PROFILE, {"id": "9", "username": "m" * 100_000}, 400),
        (PROFILE, {"id": "x" * 100_000, "username": "m"}, 400),
        (PROFILE, {"id": {"a": 1}, "username": ["m"]}, 400),
        (PROFILE, {"id": "10", "username": "mallory", "followers_count": 10**30, "display_name": {"a": [1]}}, 302),
        (PROFILE, [1], 400),
        (PROFILE, b"[" * 100_000, 400),
        (PROFILE, b" " * 1_000_000, 400),
        (PROFILE, b'{"id": "11", "username": "\\ud800"}', 400),
        ("/oauth/token", {"access_token": {"a": "b"}}, 400),
        ("/oauth/token", {"access_token": "line\r\nX-Other: header"}, 400),
        ("/oauth/token", {"access_token": "x" * 100_000}, 400),
        ("/api/v1/apps", {"client_id": "a\0b", "client_secret": "c\0d"}, 302),
        ("/api/v1/apps", {"client_id": "x" * 5000, "client_secret": "s"}, 400),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_whatever_a_server_says_is_answered_with_words(here: Town, path: str, told: Any, status: int) -> None:
    slug = await fediverse(here)
    async with hostile_server({**ANSWERS, path: told}) as host:
        ended = await come_in(here, slug, host)

    assert ended == status


async def test_what_one_server_sends_back_is_handed_to_no_other(here: Town) -> None:
    """A hostile server sends people on to an honest one, with what that one was asked when somebody else began there.

    The honest server answers at the one address that it was told, whoever's state comes with it.
    """
    slug, heard = await fediverse(here), list[str]()
    async with hostile_server(ANSWERS) as honest, hostile_server(ANSWERS, heard) as hostile:
        attacker, victim = Browser(here), Browser(here)
        at_honest, at_hostile = [
            asked_of(
                (await browser.http.get(f"/source/oauth/login/{slug}/", params={"server": host})).headers["location"]
            )
            for browser, host in ((attacker, honest), (victim, hostile))
        ]
        plain = at_honest["redirect_uri"].rstrip("/").rpartition("/")[0] + "/"
        heard.clear()

        stolen = [
            await victim.http.get(address, params={"code": "c", "state": at_hostile["state"]})
            for address in (at_honest["redirect_uri"], plain, at_hostile["redirect_uri"])
        ]
        own = await attacker.http.get(at_honest["redirect_uri"], params={"code": "c", "state": at_honest["state"]})

    assert at_honest["redirect_uri"] != at_hostile["redirect_uri"]
    assert [answer.status_code for answer in stolen] == [400, 400, 400]  # and the first try was its only one
    assert heard == []
    assert own.status_code == 302


async def test_servers_that_strangers_name_keep_nobody_else_out(here: Town) -> None:
    """When all places for servers are taken the oldest are forgotten, and who is on the way comes in all the same."""
    slug, heard = await fediverse(here), list[str]()
    async with here.house() as house, house.works.begin() as work:
        [source] = await work.db.all(_named, slug=slug)
        many = [
            {"source": source, "host": f"h{n}.example", "client_id": "", "client_secret": "", "redirect_uri": "",
             "created_at": work.now + timedelta(milliseconds=n)}
            for n in range(MOST_APPS)
        ]  # fmt: skip
        await work.db.many(command(insert_into(remote_apps)), many)

    async with hostile_server(ANSWERS, heard) as host:
        assert [await come_in(here, slug, host) for _ in range(2)] == [302, 302]

    assert heard.count("/api/v1/apps") == 1
    async with here.house() as house, house.works.begin() as work:
        left = set(await work.db.all(_kept))
    assert {host, f"h{MOST_APPS - 1}.example"} < left
    assert "h0.example" not in left
    assert MOST_APPS - FORGOTTEN_AT_ONCE < len(left) < MOST_APPS


_named = query(select(sources.c.pbm_uuid).where(sources.c.slug == bindparam("slug")), str)
_kept = query(select(remote_apps.c.host), str)


def test_what_cannot_be_kept_is_taken_out() -> None:
    deep: Any = "x"
    for _ in range(50):
        deep = [deep]

    assert cleaned({"a\0": ["b\0", "\ud800c", float("nan"), float("inf"), 10**30, True, None, 1.5]}) == {
        "a": ["b", "c", None, None, None, True, None, 1.5]
    }
    assert "x" not in str(cleaned(deep))
