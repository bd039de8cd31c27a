from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kith.base.settings import Settings, load
from tests.base.foundation import Foundation, lay_foundation
from tests.town import build_town
from tests.town.town import Engine


@pytest.fixture
async def settings(engine: Engine, tmp_path: Path) -> AsyncIterator[Settings]:
    """A migrated database of its own, and nobody in it."""
    async with build_town(engine, tmp_path / "town", start=False) as town:
        yield load(town.environment)


@pytest.fixture
async def base(settings: Settings) -> AsyncIterator[Foundation]:
    async with lay_foundation(settings) as foundation:
        yield foundation
