from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol

import pytest
import uvloop
from hypothesis import HealthCheck, settings

from tests import quick
from tests.databases import runs_in_this_mode
from tests.progress import ProgressReport
from tests.room_tests import LONG, LONGEST
from tests.town import Town, build_town, nursery, scratch, templates
from tests.town.ports import ReservedPort
from tests.town.several import SeveralTown, nodes_wanted
from tests.town.town import Engine
from tests.workers import Workers

ENGINES: tuple[Engine, ...] = ("sqlite",) if quick.is_on() else ("sqlite", "postgresql")
KIND: type[Town] = Town
if nodes_wanted():
    ENGINES, KIND = ("postgresql",), SeveralTown
    SeveralTown.servers, SeveralTown.workers = nodes_wanted() or (3, 2)

gc.disable()  # until all tests are collected: none of what that makes is garbage
scratch.use_memory()
nursery.keep_warm()

# How long an example takes says something of the machine, and nothing of Kith.
settings.register_profile("kith", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kith")

# httpx asks several times in every request which loop there is, by importing this. Where it is not installed, Python would
# look through all its folders each time, for longer than the server takes to answer.
sys.modules.setdefault("sniffio", None)  # type: ignore[arg-type] # which Python takes for "there is none"

# Where no name server answers, that is known after a second, here and in every town.
os.environ["RES_OPTIONS"] = "timeout:1 attempts:1"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", type=int, default=0, help="How many processes run the tests; 0: this one.")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "whole: takes long, and is run with everything there is only")
    config.addinivalue_line("markers", "both_databases: SQLite and PostgreSQL may differ in what is tried here")
    config.pluginmanager.register(ProgressReport(config), "progress")
    if config.option.processes and not config.option.collectonly:
        config.pluginmanager.register(Workers(config, config.option.processes))
        is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
        nursery.warm_up(thoroughly=is_whole)
        templates.make_beside(*(ENGINES if is_whole else ENGINES[:1]))


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loop of the servers, which costs less than Python's own."""
    return {"uvloop": uvloop.new_event_loop}


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    yield
    left = [item for item in items if not runs_in_this_mode(item)]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if runs_in_this_mode(item)]
    sizes = Counter(item.path for item in items)
    items.sort(key=lambda item: (_place(item), -sizes[item.path]))
    if quick.is_on():
        quick.put_near_first(items)


def pytest_collection_finish() -> None:
    """All tests stay to the end: looking through them for garbage takes seconds each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)  # as in a server
    gc.enable()


def _place(item: pytest.Item) -> int:
    """What takes longest begins first, so that nobody waits for it alone at the end."""
    path = item.nodeid.partition("::")[0].removeprefix("tests/")
    first = (*LONGEST, *LONG)
    return first.index(path) if path in first else len(first)


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Both databases, for everything that touches data."""
    chosen: Engine = request.param
    return chosen


@pytest.fixture
def metrics_port() -> Iterator[ReservedPort]:
    with ReservedPort() as port:
        yield port


class SharedTowns:
    """One for each database, built when it is first asked for and kept while the process lasts."""

    def __init__(self, stack: AsyncExitStack, paths: pytest.TempPathFactory) -> None:
        self._stack = stack
        self._paths = paths
        self._built: dict[Engine, Town] = {}

    async def get(self, engine: Engine) -> Town:
        if engine not in self._built:
            built = build_town(engine, self._paths.mktemp("town"), kind=KIND)
            self._built[engine] = await self._stack.enter_async_context(built)
        return self._built[engine]


@pytest.fixture(scope="session")
async def shared_towns(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SharedTowns]:
    async with AsyncExitStack() as stack:
        yield SharedTowns(stack, tmp_path_factory)


@pytest.fixture(scope="session")
async def town(engine: Engine, shared_towns: SharedTowns) -> Town:
    """A town shared by the tests of one process: make people of your own in it, and leave it standing."""
    return await shared_towns.get(engine)


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
                build_town(engine, tmp_path / f"town{count}", start=start, kind=KIND, **settings)
            )

        yield build
