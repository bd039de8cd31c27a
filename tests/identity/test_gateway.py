"""The application gateway: proxy mode, forward authentication, and when it ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.identity.gateways import make_gateway, sent, visitor_of
from tests.identity.upstream_app import UpstreamApp, upstream_app
from tests.town import Town, build_town
from tests.town.town import Engine


@pytest.fixture(scope="module")
async def gate_town(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    folder: Path = tmp_path_factory.mktemp("gate")
    async with build_town(engine, folder, gateway="on") as town:
        yield town


@pytest.fixture
async def app() -> AsyncIterator[UpstreamApp]:
    async with upstream_app() as app:
        yield app


async def test_whoever_signs_in_reaches_the_application_and_it_learns_who_they_are(
    gate_town: Town, app: UpstreamApp
) -> None:
    gateway = await make_gateway(gate_town, await gate_town.owner(), internal_host=app.url)
    person, visitor = await visitor_of(gate_town)

    answer, where = await visitor.follow(gateway.at("/page?a=1&b=%2F"))

    told = sent(answer)
    assert where == gateway.at("/page?a=1&b=%2F")
    assert answer.json()["target"] == "/page?a=1&b=%2F"
    assert told["x-kith-username"] == person.username
    assert told["x-forwarded-host"] == gateway.host
    assert told["host"] == f"127.0.0.1:{app.port}"
    print(told)
