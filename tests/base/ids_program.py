"""A process that makes ids: so many as it is told, on one line, after one line has been read."""

from __future__ import annotations

import asyncio
import sys

from kith.base.settings import load
from tests.base.foundation import lay_foundation


async def main() -> None:
    async with lay_foundation(load(), connections=1) as base:
        print("leased", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        print(" ".join(str(base.ids.new()) for _ in range(int(sys.argv[1]))), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
