"""A `kith` for scripts that call it by its path: what it is told is done by a fork of the warm parent.

Loading Kith takes most commands longer than what they do, and an example of the documentation calls a dozen.
"""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.town.nursery import give_birth

__all__ = ["quick_command"]

# It passes on its words, environment and folder, and ends as the fork does, which has its three files open.
_PROGRAM = """#!{python} -ISE
import json, os, socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect("\\0{name}")
told = {{"words": sys.argv[1:], "environment": dict(os.environ), "folder": os.getcwd(), "pid": os.getpid()}}
line.sendall(json.dumps(told).encode() + b"\\n")
os._exit(int(line.makefile().readline() or 1))
"""


@asynccontextmanager
async def quick_command(path: Path) -> AsyncIterator[None]:
    """A program at `path`, for as long as this lasts."""
    name = f"kith-{uuid.uuid4()}"
    path.write_text(_PROGRAM.format(python=sys.executable, name=name))
    path.chmod(0o755)
    async with await asyncio.start_unix_server(_answer, f"\0{name}", limit=1 << 20):
        yield


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    told = json.loads(await reader.readline())
    files = [Path(f"/proc/{told['pid']}/fd/{number}") for number in range(3)]
    child = give_birth(
        *told["words"],
        environment=told["environment"],
        typed=files[0],
        said=files[1],
        complained=files[2],
        folder=Path(told["folder"]),
    )
    code = await asyncio.to_thread(child.wait, 120)
    writer.write(f"{code}\n".encode())
    await writer.drain()
    writer.close()
