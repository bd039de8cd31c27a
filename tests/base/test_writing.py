"""Nobody waits for the outside world in the middle of a transaction."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web
from aiohttp.test_utils import BaseTestServer, TestServer

from kith.base.http import Outgoing
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


async def test_a_second_work_beside_one_that_writes_does_not_hide_it(base: Foundation) -> None:
    if base.database.dialect == "sqlite":
        return  # there is one pen, so that nobody writes beside
    outgoing = Outgoing("tests", private_hosts=["127.0.0.1"])
    async with base.works.begin() as work:
        await work.db.begin()
        async with work.aside() as aside:
            await aside.db.begin()
        with pytest.raises(RuntimeError, match="in the middle of a transaction"):
            await outgoing.request("GET", "http://127.0.0.1:9/")
    await outgoing.close()
