"""Who watches over the processes: each over its own loop, and systemd over the one it started."""

from __future__ import annotations

import os
import threading
import time

from kith.app import House
from kith.base.watchdog import Watchdog, notify, plan_for, system_patience

__all__ = ["start_watching", "tell_system"]


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
