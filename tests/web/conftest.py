from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.town import Town, build_town
from tests.town.town import Engine


@pytest.fixture(scope="module")
async def town(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """A town in which nobody else has changed the shipped flows."""
    async with build_town(engine, tmp_path_factory.mktemp("web")) as built:
        yield built
