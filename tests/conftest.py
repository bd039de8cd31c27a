from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.town import Town, build_town
from tests.town.town import Engine

ENGINES: tuple[Engine, ...] = ("sqlite", "postgresql")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need the same town run in the same process, so that it is built once."""
    for item in items:
        if "engine" in getattr(item, "fixturenames", ()):
            callspec = getattr(item, "callspec", None)
            if callspec is not None and "engine" in callspec.params:
                item.add_marker(pytest.mark.xdist_group(callspec.params["engine"]))


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Both databases, for everything that touches data."""
    chosen: Engine = request.param
    return chosen


@pytest.fixture(scope="session")
async def town(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """A town shared by the tests of one process: make people of your own in it, and leave it standing."""
    async with build_town(engine, tmp_path_factory.mktemp("town")) as built:
        yield built


class TownBuilder(Protocol):
    async def __call__(self, **settings: Any) -> Town: ...


@pytest.fixture
async def new_town(engine: Engine, tmp_path: Path) -> AsyncIterator[TownBuilder]:
    """Towns of one's own, with settings of one's own, to break at will."""
    async with AsyncExitStack() as stack:
        count = 0

        async def build(*, start: bool = True, **settings: str) -> Town:
            nonlocal count
            count += 1
            return await stack.enter_async_context(
                build_town(engine, tmp_path / f"town{count}", start=start, **settings)
            )

        yield build
