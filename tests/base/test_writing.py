"""Nobody waits for the outside world, a slow computation or another transaction in the middle of one."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web
from aiohttp.test_utils import BaseTestServer, TestServer

from kith.base.db import writing
from kith.base.http import Outgoing
from kith.base.limits import Limiter, LimitRule
from kith.identity.users.passwords import Passwords
from tests.base.foundation import Foundation


async def ask(outgoing: Outgoing, server: BaseTestServer) -> int:
    return (await outgoing.request("GET", str(server.make_url("/")))).status


async def test_the_guarded_client_refuses_whoever_writes(base: Foundation) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text="here")

    app = web.Application()
    app.router.add_get("/", answer)
    outgoing = Outgoing("tests", private_hosts=["127.0.0.1"])
    async with TestServer(app) as server, base.works.begin() as work:
        assert await ask(outgoing, server) == 200
        await work.db.begin()
        with pytest.raises(RuntimeError, match="in the middle of a transaction"):
            await ask(outgoing, server)
        with pytest.raises(RuntimeError, match="in the middle of a transaction"):
            await asyncio.create_task(ask(outgoing, server))
        await work.db.commit()
        assert await ask(outgoing, server) == 200
        await work.db.begin()
        await work.db.rollback()
        assert await ask(outgoing, server) == 200
    await outgoing.close()


async def test_passwords_and_limits_refuse_whoever_writes(base: Foundation) -> None:
    passwords, limiter, rule = Passwords(), Limiter(base.database), LimitRule("tests", most=1, seconds=60)
    stored = await passwords.hash("a password")
    async with base.works.begin() as work:
        assert await passwords.check(stored, "a password")
        await work.db.begin()
        for slow in (
            passwords.hash("a password"),
            passwords.check(stored, "a password"),
            limiter.pay((rule, "me")),
            limiter.spend_strictly(rule, "me"),
        ):
            with pytest.raises(RuntimeError, match="in the middle of a transaction"):
                await slow
        await work.db.commit()
        assert await passwords.check(stored, "a password")
    passwords.close()


class Writer:
    is_writing = True


def test_a_session_that_ends_gives_way_to_the_one_around_it() -> None:
    outer, inner = Writer(), Writer()
    before = writing.enter(outer)
    around = writing.enter(inner)
    inner.is_writing = False
    writing.leave(around)
    assert writing.is_writing()

    outer.is_writing = False
    assert not writing.is_writing()
    writing.leave(before)
    assert not writing.is_writing()
