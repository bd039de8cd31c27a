from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING

import click
import structlog
import uvloop

from kith.app import House, open_house
from kith.base import asking, log
from kith.base.counted_log import tell_rest
from kith.base.reserve import Reserve
from kith.base.server import HttpServer, limits_from, listen
from kith.base.server.kept_listeners import KeptListeners, keep_listeners
from kith.base.settings import BadSettings, Settings, label, load, split_bind
from kith.base.watchdog import Watchdog, notify
from kith.cli.folder_lock import FolderLock
from kith.cli.replacing import Replacement, refuse_other_places, start_anew, trial_of
from kith.cli.running import KITH, revision_of
from kith.cli.watching import Watched, metrics_for, start_watching, tell_system
from kith.migrations import HEAD

if TYPE_CHECKING:
    from kith.cli.gateway_tls import EncryptedGateway
    from kith.cli.own_tls import OwnTls
    from kith.identity.ldap_server.listener import LdapServer
    from kith.identity.radius_server.listener import RadiusServer

STOP_SECONDS = 8  # for what is under way; a container is killed after ten
LEAVE_SECONDS = 2.0  # in which connections end with an answer, before another process takes over
FINISH_SECONDS = 2.0  # more for what is under way then: everybody else waits for the next process meanwhile
_PR_SET_PDEATHSIG = 1


@click.command()
@click.option("--child", is_flag=True, hidden=True, help="Run as one of several web processes.")
@click.option("--try", "running", hidden=True, help="Only bring up the database, to take over from what runs so.")
def serve(*, child: bool, running: str | None) -> None:
    """Start the server. The database is upgraded first. SIGHUP has it replaced without a request being lost."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})  # it waits until it is known what to do
    settings = load()
    if running is not None:
        refuse_other_places(settings, running)
        _in_a_copy(lambda: uvloop.run(_bring_up(settings)))
        return
    kept = keep_listeners(os.environ)
    if child:
        _end_with_parent()
        uvloop.run(_serve(settings, kept, is_child=True))
        return
    lock = FolderLock(settings) if settings.is_sqlite else None
    if lock is not None:
        lock.take(os.environ)
        Reserve(settings.sqlite_path).make_room_to_start()
    if not kept.has(*settings.address):  # else all of this was done before the one in whose place this is
        refuse_taken(settings)
        _in_a_copy(lambda: uvloop.run(_prepare(settings)))
    if settings.processes > 1:
        _supervise(settings)
    elif uvloop.run(_serve(settings, kept)):
        start_anew(kept.for_next() | (lock.for_next() if lock is not None else {}))


def _in_a_copy(act: Callable[[], None]) -> None:
    """In a copy of this process, which ends after it: what `act` needed is never in the server's memory."""
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        act()  # an error is told by the copy, as it would have been by this process
        sys.exit()
    _, status = os.waitpid(pid, 0)
    if code := os.waitstatus_to_exitcode(status):
        sys.exit(code if code > 0 else 128 - code)


def _end_with_parent() -> None:
    """A web process whose keeper is gone would serve on unseen; the system tells it to stop."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def refuse_taken(settings: Settings) -> None:
    """The server shares its ports between its own processes, so it would not notice a stranger's by itself."""
    for name in ("bind", "metrics_bind", "ldap_bind", "ldaps_bind", "radius_bind"):
        bind: str = getattr(settings, name)
        if not bind:
            continue
        host, port = split_bind(bind, name)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM if name == "radius_bind" else socket.SOCK_STREAM) as probe:
            try:
                if name != "radius_bind":
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, port))
            except OSError as error:
                raise BadSettings(f"cannot listen on {bind}: {error.strerror}; set {label(name)}") from error


async def _prepare(settings: Settings) -> None:
    """What happens once, however many processes follow."""
    from kith.cli.first_rows import offer_start  # noqa: PLC0415 - loaded in the copy alone

    await _bring_up(settings)
    with asking.uses_reserve():
        async with open_house(settings, connections=1) as house, house.works.begin() as work:
            token = await offer_start(work)
    click.echo(f"Kith is running at {settings.base_url} (listening on {settings.bind})")
    if token is not None:
        click.echo(
            f"Create the first administrator account here (this link works once): {settings.base_url}/setup/{token}"
        )
    sys.stdout.flush()


async def _bring_up(settings: Settings) -> None:
    from kith.backup.passphrase import find_passphrase  # noqa: PLC0415 - loaded in the copy alone

    find_passphrase(settings)  # else nobody would know before the first backup is due
    if await revision_of(settings) != HEAD:
        _migrate()


def _migrate() -> None:
    """In a process of its own: what migrating needs is never in the server's memory."""
    done = subprocess.run([*KITH, "migrate"], check=False, stdout=subprocess.DEVNULL)  # noqa: S603 - our own words
    if done.returncode:
        raise BadSettings("the database could not be migrated, so the server does not start")


async def _serve(settings: Settings, kept: KeptListeners, *, is_child: bool = False) -> bool:
    """Until a word to stop has come, or one to make way for a new process: whether it was that."""
    access_log = log.configure(settings)
    async with open_house(settings, hears_commands=True) as house:
        stopping = asyncio.Event()
        loop = asyncio.get_running_loop()
        replacement = Replacement(stopping, settings, is_child=is_child)
        for word in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(word, replacement.stop)
        worker = house.worker() if settings.worker else None
        working = asyncio.create_task(worker.run()) if worker else None
        if working is not None:
            # A server without its worker would take on what it never does: better to stop, and be started again.
            working.add_done_callback(lambda _: stopping.set())
        start_watching(house, is_child=is_child)
        metrics = metrics_for(settings, "serve") if settings.processes == 1 else None
        watched = Watched(house, with_figures=settings.worker)
        others: list[LdapServer | RadiusServer | EncryptedGateway | OwnTls] = []
        try:
            await _listen_to_others(house, access_log, others)
            server = await _answer(house, access_log)
            kept.tell_ready()
            await stopping.wait()
            if replacement.is_wanted:
                structlog.get_logger().info("server.leaving")
                if worker is not None and working is not None:
                    worker.stop()  # while people are answered still
                    await working
                await asyncio.gather(*(one.leave(LEAVE_SECONDS) for one in (server, *others)))
            else:
                notify("STOPPING=1", os.environ)
            await server.stop(FINISH_SECONDS if replacement.is_wanted else STOP_SECONDS)
        finally:
            for other in others:
                await other.stop()
            if worker is not None and working is not None:
                worker.stop()
                await working
            house.find(Watchdog).stop()
            await watched.stop()
            if metrics is not None:
                metrics.stop()
            tell_rest()
            access_log.flush()
    structlog.get_logger().info("server.stopped", is_replaced=replacement.is_wanted)
    return replacement.is_wanted


async def _listen_to_others(
    house: House, access_log: log.AccessLog, servers: list[LdapServer | RadiusServer | EncryptedGateway | OwnTls]
) -> None:
    """Those who speak something else than plain HTTP. What that takes is loaded only where it is wanted."""
    settings = house.settings
    if settings.ldap_bind or settings.ldaps_bind:
        from kith.identity.ldap_server.listener import LdapServer  # noqa: PLC0415

        servers.append(LdapServer(house.works))
    if settings.radius_bind:
        from kith.identity.radius_server.listener import RadiusServer  # noqa: PLC0415

        servers.append(RadiusServer(house.works))
    if settings.gateway and settings.gateway_tls_bind:
        from kith.cli.gateway_tls import EncryptedGateway  # noqa: PLC0415

        servers.append(EncryptedGateway(house, access_log))
    if settings.acme:
        from kith.cli.own_tls import OwnTls  # noqa: PLC0415

        servers.append(OwnTls(house, access_log))
    for server in servers:
        await server.start(settings)


def _spare_the_old() -> None:
    """What is loaded now stays until the end: looking through it for garbage again and again would hold up requests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


async def _answer(house: House, access_log: log.AccessLog) -> HttpServer:
    settings = house.settings
    listener = listen(*settings.address, shared=settings.processes > 1)
    server = HttpServer(house.asgi(access_log), listener, limits_from(settings), settings.trusted_proxies)
    _spare_the_old()
    await server.start()
    notify("READY=1", os.environ)
    return server


def _supervise(settings: Settings) -> None:
    """Several web processes, and the numbers of all of them added up."""
    from kith.cli.keeper import Keeper  # noqa: PLC0415 - loaded where there are several

    log.configure(settings)
    with tempfile.TemporaryDirectory(prefix="kith-metrics-") as folder:
        environment = os.environ | {"PROMETHEUS_MULTIPROC_DIR": folder}
        for name in ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"):  # systemd hears this process only
            environment.pop(name, None)
        tell_system()
        metrics = metrics_for(settings, "serve", folder=folder)
        Keeper(settings.processes, environment, folder, trial_of(settings)).run()
        metrics.stop()
