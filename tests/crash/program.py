"""A real server with one more route, made to be killed: a warm parent that forks a server whenever it is told.

Importing the server takes a second; a fork of a process that has done so takes none. The parent starts no loop
and no thread, so its children are like freshly started servers. It reads words from its input, one a line:
`start` answers the child's process id, `kill` answers when the child is dead. The end of the input is the end.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from pathlib import Path

import msgspec
import uvloop
from sqlalchemy import BigInteger, Column, MetaData, Table

from kith import app
from kith.base.db import command, insert_into
from kith.base.jobs import JobKind
from kith.base.routing import FromPath, post
from kith.base.server.kept_listeners import KeptListeners
from kith.base.settings import load
from kith.base.work import Work
from kith.cli import serve

# No constraint stands between the effects, so that one that came twice is seen twice.
TABLES = (
    "CREATE TABLE crash_writes (id BIGINT PRIMARY KEY)",
    "CREATE TABLE crash_effects (write_id BIGINT NOT NULL)",
)
_metadata = MetaData()
_write = command(insert_into(Table("crash_writes", _metadata, Column("id", BigInteger, primary_key=True))))
_effect = command(insert_into(Table("crash_effects", _metadata, Column("write_id", BigInteger))))


class Written(msgspec.Struct):
    id: int


async def take_effect(work: Work, payload: Written) -> None:
    await work.db.run(_effect, write_id=payload.id)


EFFECT: JobKind[Written] = JobKind(name="crash.effect", payload=Written, handler=take_effect)


@post("/writes/{id}", status=201)
async def write(work: Work, id: FromPath[int]) -> dict[str, int]:
    await work.db.run(_write, id=id)
    work.enqueue(EFFECT, Written(id))
    return {"id": id}


def serve_in_a_child() -> int:
    child = os.fork()
    if child:
        return child
    try:
        log = os.open(Path(os.environ["KITH_DATA"]) / "server.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        uvloop.run(serve._serve(load(), KeptListeners({})))
    except BaseException:  # noqa: BLE001 - a child must not come back as a second parent
        traceback.print_exc()
    finally:
        os._exit(1)


def kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def main() -> None:
    app.ROUTES.append(write)
    app.KINDS.append(EFFECT)
    gc.freeze()  # what is here now stays, and no child need look at it again
    child = 0
    for line in sys.stdin:
        match line.strip():
            case "start":
                child = serve_in_a_child()
                print(child, flush=True)
            case "kill":
                kill(child)
                child = 0
                print("dead", flush=True)
    if child:
        kill(child)


if __name__ == "__main__":
    main()
