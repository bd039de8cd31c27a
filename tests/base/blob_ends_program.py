"""Processes that end as soon as they have read a file: how many of them did not come to a good end.

They are copies of one that has loaded everything, but has not read anything yet.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path

import obstore.store

from kith.base.blobs import blobs
from kith.base.errors import NotFound

__all__: list[str] = []


async def _read_nothing() -> None:
    with suppress(NotFound):
        await blobs("", Path(sys.argv[1])).get("not/there")


assert obstore.store
failed = 0
for _ in range(int(sys.argv[2])):
    pid = os.fork()
    if pid == 0:
        asyncio.run(_read_nothing())
        sys.exit(7)
    failed += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 7
print(failed)
