from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from tests.identity.gateway.upstream_app import UpstreamApp, upstream_app
from tests.town import Town, build_town
from tests.town.town import Engine


class GateTowns:
    """Towns that answer as the gateway, too: one for each database, kept while the process lasts."""

    def __init__(self, stack: AsyncExitStack, paths: pytest.TempPathFactory) -> None:
        self._stack = stack
        self._paths = paths
        self._built: dict[Engine, Town] = {}

    async def get(self, engine: Engine) -> Town:
        if engine not in self._built:
            built = build_town(engine, self._paths.mktemp("gate"), gateway="on", private_hosts="")
            self._built[engine] = await self._stack.enter_async_context(built)
        return self._built[engine]


@pytest.fixture(scope="session")
async def gate_towns(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GateTowns]:
    async with AsyncExitStack() as stack:
        yield GateTowns(stack, tmp_path_factory)


@pytest.fixture
async def town(gate_towns: GateTowns, engine: Engine) -> Town:
    return await gate_towns.get(engine)


@pytest.fixture
async def app() -> AsyncIterator[UpstreamApp]:
    async with upstream_app() as app:
        yield app
