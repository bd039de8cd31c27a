"""Where files from outside are opened: in processes of their own, a few at a time, each with hard limits.

A process serves one file and ends. Starting one costs a fifth of a second; a decoder that was broken into can harm
nobody else's picture.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal

import msgspec

import kith
from kith.base import asking
from kith.base.counted_log import log_counted
from kith.base.errors import NoSpace, Problem, Unavailable
from kith.base.places import Full, Places
from kith.social.files.process.refusal import NO_ROOM
from kith.social.files.sniff import Sniffed

__all__ = ["BadFile", "Bounds", "DecodedFile", "DecoderProcesses", "Fill", "Made", "copying"]

# Of each kind one place is always left to everybody else: whoever it is whose files take long, another server or
# somebody who uploads them.
STILL_AT_ONCE, STILL_EACH = 3, 2
MOVING_AT_ONCE, MOVING_EACH = 2, 1
MOVING_WAIT_SECONDS = 3600.0
JOB_WAIT_SECONDS = 30.0  # of a job that has fetched nothing yet: others of its lane should have a turn
WAIT_SECONDS = 120.0
LEAST_FREE = 64 * 1024  # where a program failed with less, it was not the file's fault
LEFTOVER_SECONDS = 2 * 3600.0

OWNERS = ("host", "caller")

BROKEN = "File type of uploaded media could not be verified"
TOO_LONG = "The file takes too long to process"

Craft = Literal["attachment", "thumbnail", "preview", "avatar", "header"]
Fill = Callable[[Path], Awaitable[None]]


class BadFile(Problem):
    """The file is not taken; the words say why."""

    status = 422
    code = "bad_file"
    message = BROKEN


class Bounds(msgspec.Struct, frozen=True):
    """`cpu_seconds` of work, within `seconds` on the clock."""

    memory: int
    cpu_seconds: int
    seconds: int
    file_bytes: int


STILL = Bounds(memory=1 << 30, cpu_seconds=30, seconds=90, file_bytes=64 << 20)
ANIMATED = Bounds(memory=1 << 30, cpu_seconds=120, seconds=360, file_bytes=128 << 20)
MOVING = Bounds(memory=2 << 30, cpu_seconds=900, seconds=1800, file_bytes=512 << 20)


class DecodedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a program made of a file: names of results in its folder, empty where there is none."""

    kind: Literal["image", "gifv", "video", "audio"]
    file: Literal[
        "original.jpg",
        "original.png",
        "original.webp",
        "original.gif",
        "original.mp4",
        "original.mp3",
        "small.jpg",
        "small.png",
        "small.webp",
    ]
    preview: Literal["", "small.jpg", "small.png", "small.webp"] = ""
    static: Literal["", "static.png"] = ""
    meta: dict[str, Any] = {}
    blurhash: str | None = None


class _Refusal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    error: str


class Made(msgspec.Struct, frozen=True):
    """Results, and the folder in which they lie for the moment."""

    outcome: DecodedFile
    folder: Path


class DecoderProcesses:
    """`folder` is for files being worked on; what a crash left there is cleared away later."""

    def __init__(
        self, folder: Path, *, still: Bounds = STILL, animated: Bounds = ANIMATED, moving: Bounds = MOVING
    ) -> None:
        self._folder = folder
        self._still, self._animated, self._moving = still, animated, moving
        self._still_places = Places("decoders", most=STILL_AT_ONCE, each=dict.fromkeys(OWNERS, STILL_EACH))
        self._moving_places = Places("film_decoders", most=MOVING_AT_ONCE, each=dict.fromkeys(OWNERS, MOVING_EACH))

    @asynccontextmanager
    async def make(
        self, craft: Craft, file: Sniffed, fill: Fill, *, moving: bool = False, of: int | None = None
    ) -> AsyncIterator[Made]:
        """What `craft` makes of the file that `fill` writes; gone when the block ends. Raises `BadFile`.

        What is slow has places of its own, so that a picture does not wait for a film. `of` is the account whose file
        it is, where nobody waits for it.
        """
        plays = self._moving if file.family == "moving" else self._animated
        bounds = plays if moving else self._still
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._place(of, moving=moving))
            folder = await asyncio.to_thread(self._new_folder)
            stack.push_async_callback(asyncio.to_thread, shutil.rmtree, folder, ignore_errors=True)
            await fill(folder / "source")
            program = "moving" if moving else "still"
            outcome = await _run(program, craft, file.mime, bounds, folder)
            yield Made(outcome, folder)

    @asynccontextmanager
    async def _place(self, of: int | None, *, moving: bool) -> AsyncIterator[None]:
        host = asking.host()
        caller = asking.caller() if of is None else f"account:{of}"
        places = self._moving_places if moving else self._still_places
        patience = JOB_WAIT_SECONDS if of is not None else MOVING_WAIT_SECONDS if moving else WAIT_SECONDS
        try:
            place = await places.enter(seconds=patience, host=host, caller=None if host else caller)
        except Full as full:
            raise Unavailable from full
        try:
            yield
        finally:
            place.give_back()

    def _new_folder(self) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return Path(tempfile.mkdtemp(dir=self._folder))

    def clear(self) -> None:
        """Remove what was left behind by a process that died: nothing takes that long."""
        if self._folder.is_dir():
            for left in self._folder.iterdir():
                with suppress(OSError):
                    if left.stat().st_mtime < time.time() - LEFTOVER_SECONDS:
                        shutil.rmtree(left, ignore_errors=True)


def copying(file: IO[bytes]) -> Fill:
    """Fill from an open file, from its start."""

    def copy(path: Path) -> None:
        file.seek(0)
        with path.open("xb") as target:
            shutil.copyfileobj(file, target, 256 * 1024)

    async def fill(path: Path) -> None:
        await asyncio.to_thread(copy, path)

    return fill


async def _run(program: str, craft: Craft, mime: str, bounds: Bounds, folder: Path) -> DecodedFile:
    job = {"craft": craft, "mime": mime, "memory": bounds.memory, "seconds": bounds.cpu_seconds}
    job["file_bytes"] = bounds.file_bytes
    with (folder / "said").open("xb") as said:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-B",
            "-m",
            f"kith.social.files.process.{program}",
            json.dumps(job),
            cwd=folder,
            env={"PYTHONPATH": str(Path(kith.__file__).parents[1]), "LC_ALL": "C.UTF-8"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        code = await _ended(process, bounds.seconds)
    return await asyncio.to_thread(_read, folder, code)


async def _ended(process: asyncio.subprocess.Process, seconds: int) -> int | None:
    """Its exit code; None if it had to be ended. It never outlives this call."""
    try:
        async with asyncio.timeout(seconds):
            return await process.wait()
    except TimeoutError:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _read(folder: Path, code: int | None) -> DecodedFile:
    report = folder / "report.json"
    if code == 0 and report.is_file():
        told = report.read_bytes()
        try:
            return msgspec.json.decode(told, type=DecodedFile)
        except msgspec.ValidationError:
            raise BadFile(msgspec.json.decode(told, type=_Refusal).error) from None
    if code == NO_ROOM or shutil.disk_usage(folder).free < LEAST_FREE:
        raise NoSpace
    log_counted("warning", "files.program_died", str(code), code=code, said=_tail(folder / "said"))
    raise BadFile(TOO_LONG if code in (None, -signal.SIGXCPU, -signal.SIGKILL) else BROKEN)


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 2000))
        return file.read().decode("utf-8", "replace")
