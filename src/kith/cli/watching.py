"""Who watches over the processes: each over its own loop, and systemd over the one it started."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from typing import TYPE_CHECKING

from kith.app import House
from kith.base.metrics import MetricsServers
from kith.base.settings import Settings, split_bind
from kith.base.watchdog import Watchdog, notify, plan_for, system_patience
from kith.web.levels import figures

if TYPE_CHECKING:
    from kith.base.trace_export import TraceExport

__all__ = ["Watched", "metrics_for", "start_watching", "tell_system"]


def metrics_for(settings: Settings, name: str, *, folder: str | None = None) -> MetricsServers:
    """For the process `name`; `kith work` has an address of its own, since it may run beside the server."""
    setting = "metrics_bind" if name == "serve" else "work_metrics_bind"
    bind: str = getattr(settings, setting)
    return MetricsServers(settings.data, name, split_bind(bind, setting) if bind else None, folder=folder)


class Watched:
    """What a process does so that others can see how it is: figures of the database and, if wanted, traces."""

    def __init__(self, house: House, *, with_figures: bool) -> None:
        self._telling = asyncio.create_task(figures.tell_forever(house.works)) if with_figures else None
        self._traces: TraceExport | None = None
        if house.settings.otlp:
            from kith.base.trace_export import TraceExport  # noqa: PLC0415 - loaded where it is wanted

            self._traces = TraceExport(house.settings.otlp, house.settings.base_url)
            self._traces.start()

    async def stop(self) -> None:
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)
        if self._traces is not None:
            await self._traces.stop()


def start_watching(house: House, *, is_child: bool = False) -> None:
    """In the loop that is to be watched. systemd hears from it as long as it turns."""
    patience = system_patience(os.environ)

    def tell() -> None:
        if patience is not None:
            notify("WATCHDOG=1", os.environ)

    house.find(Watchdog).start(plan_for(house.settings, os.environ, is_child=is_child), tell)


def tell_system() -> None:
    """For the parent of several processes, which only waits for them: it is ready, and it lives."""
    notify("READY=1", os.environ)
    patience = system_patience(os.environ)
    if patience is None:
        return

    def tell() -> None:
        while True:
            notify("WATCHDOG=1", os.environ)
            time.sleep(min(patience / 3, 10.0))

    threading.Thread(target=tell, name="watchdog", daemon=True).start()
