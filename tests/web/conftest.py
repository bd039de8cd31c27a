from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest
from playwright.async_api import Browser as Chrome

from tests.town import Town, build_town
from tests.town.town import Engine
from tests.web.browsing import Browser
from tests.web.chromium import launched

NewBrowser = Callable[[], Browser]


@pytest.fixture(scope="module")
async def town(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """A town in which nobody else has changed the shipped flows."""
    async with build_town(engine, tmp_path_factory.mktemp("web")) as built:
        yield built


@pytest.fixture
async def new_browser(town: Town) -> AsyncIterator[NewBrowser]:
    async with AsyncExitStack() as stack:

        def build() -> Browser:
            browser = Browser(town)
            stack.push_async_callback(browser.close)
            return browser

        yield build


@pytest.fixture
def browser(new_browser: NewBrowser) -> Browser:
    return new_browser()


@pytest.fixture(scope="session")
async def chrome() -> AsyncIterator[Chrome]:
    async with launched() as browser:
        yield browser
