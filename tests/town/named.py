"""A town with a name service of its own: names below `dead.example` and `dead<n>.example` are never answered, all
other names below `example` are at the loopback address."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.town.town import Town

__all__ = ["NamedTown", "answer_names"]

_PROGRAM = """
import sys
from tests.town.named import answer_names
answer_names()
from kith.cli import main
sys.exit(main())
"""
_DEAD = re.compile(r"(.*\.)?dead[0-9]*\.example\.?")
_asked = socket.getaddrinfo


def answer_names() -> None:
    """In this process, in place of the system's."""
    socket.getaddrinfo = _answer


def _answer(host: Any, port: Any, *options: Any, **named: Any) -> Any:
    name = host.decode() if isinstance(host, bytes) else host
    if isinstance(name, str) and _DEAD.fullmatch(name):
        with _note().open("a") as note:
            note.write(f"{name}\n")
        time.sleep(40)  # for longer than anybody waits
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")
    if isinstance(name, str) and name.rstrip(".").endswith(".example"):
        host = "127.0.0.1"
    return _asked(host, port, *options, **named)


def _note() -> Path:
    return Path(os.environ["KITH_DATA"]) / "dead_names"


class NamedTown(Town):
    async def until_dead_names(self, count: int) -> None:
        """Until the server waits for the addresses of so many names that nobody answers."""
        while self.dead_names < count:
            await asyncio.sleep(0.02)

    @property
    def dead_names(self) -> int:
        """How many such names were asked for until now."""
        note = self.folder / "dead_names"
        return note.read_text().count("\n") if note.exists() else 0

    async def start(self) -> None:
        log = (self.folder / "server.log").open("ab")
        with log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, "serve"],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        await self._until_it_answers()
