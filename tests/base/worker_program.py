"""A worker process for tests, which works until it is told to stop, or until a job takes it down.

With the word `alone` it knows that no other worker lives.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import msgspec
from sqlalchemy import BigInteger, Column, MetaData, Table

from kith.base.db import command, insert_into
from kith.base.jobs import JobKind
from kith.base.jobs.worker import Worker
from kith.base.settings import load
from kith.base.work import Work
from tests.base.foundation import lay_foundation

# Nothing keeps an effect from being written twice: a second one must be seen.
EFFECTS = "CREATE TABLE test_effects (number BIGINT NOT NULL)"
_effects = Table("test_effects", MetaData(), Column("number", BigInteger, nullable=False))
_add = command(insert_into(_effects))


class Number(msgspec.Struct):
    number: int


async def write_down(work: Work, payload: Number) -> None:
    await work.db.run(_add, number=payload.number)


WRITE_DOWN: JobKind[Number] = JobKind(name="test.write_down", payload=Number, handler=write_down)


async def take_down(_work: Work, _payload: Number) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


DEADLY: JobKind[Number] = JobKind(name="test.deadly", payload=Number, handler=take_down)
OUTSIDE: JobKind[Number] = JobKind(name="test.outside", payload=Number, handler=write_down, outside=True)
DEADLY_OUTSIDE: JobKind[Number] = JobKind(name="test.deadly_outside", payload=Number, handler=take_down, outside=True)


async def main() -> None:
    async with lay_foundation(load()) as base:
        kinds = [WRITE_DOWN, DEADLY, OUTSIDE, DEADLY_OUTSIDE]
        worker = Worker(base.works, kinds, alone="alone" in sys.argv)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
        await worker.run()


if __name__ == "__main__":
    asyncio.run(main())
