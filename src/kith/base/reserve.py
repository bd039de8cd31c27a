"""Room that is kept for a full disk: so that people can sign in and read while everything else is refused.

A file of some megabytes lies beside the database. When a commit finds no room, the file is removed, the commit is done
once more, and from then on only those write who are about to enter, until there is room again (docs/decisions/0044).
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from kith.base import asking
from kith.base.errors import NoSpace
from kith.base.logger import Logger

__all__ = ["SIZE", "Reserve", "is_full"]

SIZE = 4 << 20
TO_START = 1 << 20
ENOUGH = 4 * SIZE  # that must be free before it is kept again
FOR_KNOWN = SIZE // 2  # of it, for those who have signed in before
STRETCH_SECONDS = 300.0
MOST_OF_STRANGER, MOST_OF_KNOWN = 300, 600  # writes in a stretch; somebody comes in by some ten of them
MOST_CALLERS = 10_000
KEEP_AFTER_SECONDS = 60.0  # of a start, which has better things to do
_log = Logger()


def is_full(database: object) -> bool:
    """Whether this is a database on a full disk, where the reserve is written to."""
    reserve = getattr(database, "reserve", None)
    return isinstance(reserve, Reserve) and reserve.is_given_up


class Reserve:
    """Of one server over one SQLite database."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}-reserve")
        self.is_given_up = not self._path.exists() and not self._has_room()
        self._stretch = 0
        self._writes: Counter[tuple[str, bool]] = Counter()  # in this stretch, by caller

    def _free(self) -> int:
        return shutil.disk_usage(self._path.parent).free

    def _has_room(self) -> bool:
        return self._free() >= ENOUGH

    async def run(self) -> None:
        """Keep it, once the server has started."""
        await asyncio.sleep(KEEP_AFTER_SECONDS)
        await asyncio.to_thread(self.keep)

    def keep(self) -> None:
        """Where there is room for it. It is written in full, since some disks give room only for what is there."""
        unfinished = self._path.with_name(f"{self._path.name}-unfinished")
        try:
            if self._path.exists() or not self._has_room():
                return
            with unfinished.open("wb") as file:
                file.write(os.urandom(SIZE))
                file.flush()
                os.fsync(file.fileno())
            unfinished.rename(self._path)
        except OSError:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)

    def give_up(self) -> bool:
        """Make room of it; False if there was none left."""
        try:
            self._path.unlink()
        except OSError:
            return False
        self.is_given_up = True
        _log.error("disk.reserve_given_up", path=str(self._path), bytes=SIZE)
        return True

    def make_room_to_start(self) -> None:
        """A database cannot even be opened where nothing at all can be written."""
        if shutil.disk_usage(self._path.parent).free < TO_START:
            self.give_up()

    def admit(self) -> None:
        """Before a write: raises `NoSpace` while the disk is full, but for those that the reserve is for."""
        if not self.is_given_up:
            return
        if self._has_room():
            self.is_given_up = False
            _log.info("disk.has_room_again", path=str(self._path))
            asyncio.get_running_loop().run_in_executor(None, self.keep)
        elif not asking.may_use_reserve():
            raise NoSpace
        else:
            self._share_out()

    def _share_out(self) -> None:
        """Each caller writes only so often, and the last part is not for strangers: nobody uses up what is for all."""
        caller, is_known = asking.caller(), asking.is_for_somebody_known()
        if caller is None:  # the server itself
            return
        if not is_known and self._free() < FOR_KNOWN:
            raise NoSpace
        stretch = int(time.monotonic() // STRETCH_SECONDS)
        if stretch != self._stretch:
            self._stretch = stretch
            self._writes.clear()
        count = self._writes[caller, is_known]
        is_one_too_many = not count and not is_known and len(self._writes) >= MOST_CALLERS
        if is_one_too_many or count >= (MOST_OF_KNOWN if is_known else MOST_OF_STRANGER):
            raise NoSpace
        self._writes[caller, is_known] = count + 1
