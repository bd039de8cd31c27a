from __future__ import annotations

import asyncio
import os
import signal

import click
import uvloop

from kith.app import open_house
from kith.base import log
from kith.base.counted_log import tell_rest
from kith.base.settings import BadSettings, Settings, load
from kith.base.watchdog import Watchdog, notify
from kith.cli.running import refuse_other_schema
from kith.cli.watching import Watched, metrics_for, start_watching


@click.command()
def work() -> None:
    """Run background jobs without a web server. On SQLite the server does this itself."""
    settings = load()
    if settings.is_sqlite:
        raise BadSettings("on SQLite the server runs the jobs itself; `kith work` is for PostgreSQL")
    uvloop.run(_work(settings))


async def _work(settings: Settings) -> None:
    await refuse_other_schema(settings)
    log.configure(settings)
    async with open_house(settings) as house:
        worker = house.worker()
        loop = asyncio.get_running_loop()
        for word in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(word, worker.stop)
        click.echo("Kith is running background jobs.")
        start_watching(house)
        metrics, watched = metrics_for(settings, f"work-{os.getpid()}"), Watched(house, with_figures=True)
        notify("READY=1", os.environ)
        try:
            await worker.run()
        finally:
            house.find(Watchdog).stop()
            await watched.stop()
            metrics.stop()
            tell_rest()
