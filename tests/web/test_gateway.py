"""The way through a gateway, in a real browser."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, expect

from tests.identity.gateway.gateways import make_gateway, refuse_everybody
from tests.identity.gateway.upstream_app import UpstreamApp, upstream_app
from tests.town import Town, build_town
from tests.town.town import Engine
from tests.web.chromium import check_day_and_night, opened, send


@pytest.fixture(scope="module")
async def town(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    async with build_town(engine, tmp_path_factory.mktemp("web-gateway"), gateway="on") as built:
        yield built


@pytest.fixture
async def app() -> AsyncIterator[UpstreamApp]:
    async with upstream_app() as running:
        yield running


async def test_somebody_signs_in_on_the_way_uses_the_application_and_leaves(
    town: Town, chrome: Browser, app: UpstreamApp
) -> None:
    owner, person = await town.owner(), await town.sign_up()
    gateway = await make_gateway(town, owner, internal_host=app.url)

    async with opened(chrome, town) as page:
        await page.goto(gateway.at("/deep/page?x=1"))
        await send(page, {"User name or e-mail address": person.username})
        await send(page, {"Password": person.password})
        await page.wait_for_url(gateway.at("/deep/page?x=1"))
        assert person.username in await page.inner_text("body")
        socket = await page.evaluate(
            "new Promise(done => { const s = new WebSocket('ws://' + location.host + '/ws');"
            " s.onmessage = e => done(e.data); s.onerror = () => done('failed') })"
        )
        assert socket == person.username

        await page.goto(gateway.at("/outpost.kith/sign_out"))
        await page.goto(gateway.at("/deep/page"))
        await expect(page.get_by_label("User name or e-mail address", exact=True)).to_be_visible()


async def test_whoever_is_refused_reads_why_and_a_code(town: Town, chrome: Browser, app: UpstreamApp) -> None:
    owner, person = await town.owner(), await town.sign_up()
    gateway = await make_gateway(town, owner, internal_host=app.url)

    async with opened(chrome, town) as page:
        await page.goto(gateway.at("/"))
        await send(page, {"User name or e-mail address": person.username})
        await send(page, {"Password": person.password})
        await page.wait_for_url(gateway.at("/"))
        await refuse_everybody(owner, gateway)
        answer = await page.goto(gateway.at("/again"))

        assert answer is not None
        assert answer.status == 403
        await expect(page.get_by_text("Not on Sundays.")).to_be_visible()
        await expect(page.get_by_text("Error code:")).to_be_visible()
        await check_day_and_night(page)
