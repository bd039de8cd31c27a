"""The numbers an operator watches, in Prometheus' words."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from pathlib import Path
from typing import Any

# Module by module, since the package as a whole loads much more (see `lean`).
from prometheus_client import gc_collector, platform_collector, process_collector
from prometheus_client.metrics import Counter, Gauge, Histogram
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import REGISTRY, CollectorRegistry

PATIENCE_SECONDS = 5.0
OF_THE_PROCESS = (gc_collector.GC_COLLECTOR, platform_collector.PLATFORM_COLLECTOR, process_collector.PROCESS_COLLECTOR)

REQUESTS = Histogram(
    "kith_request_seconds",
    "Time to answer a request",
    ["method", "route", "status"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
PASSWORD_CHECKS = Counter("kith_password_checks", "Passwords that were checked the slow way")
PROCESS_DEATHS = Counter("kith_process_deaths", "Web processes that ended without being asked to", ["how"])
CONNECTIONS = Gauge("kith_connections", "Open connections", multiprocess_mode="livesum")
CONNECTIONS_CUT = Counter("kith_connections_cut", "Connections ended or refused by the server", ["reason"])
STREAMS = Gauge("kith_streams", "Open streams and sockets of the streaming API", multiprocess_mode="livesum")
STREAM_EVENTS = Counter("kith_stream_events", "Events that were handed to streams", ["event"])
STREAMS_ENDED = Counter("kith_streams_ended", "Streams that the server ended", ["reason"])
CACHE_ENTRIES = Gauge("kith_cache_entries", "What a cache holds", ["cache"], multiprocess_mode="livesum")
CACHE_BYTES = Gauge(
    "kith_cache_bytes", "About how many bytes a cache's entries take", ["cache"], multiprocess_mode="livesum"
)
CACHE_HITS = Counter("kith_cache_hits", "Look-ups that a cache answered", ["cache"])
CACHE_MISSES = Counter("kith_cache_misses", "Look-ups that a cache could not answer", ["cache"])
PLACES = Gauge(
    "kith_places",
    "Places of what is done a few at a time, and who waits for one",
    ["of", "state"],
    multiprocess_mode="livesum",
)
PLACES_REFUSED = Counter("kith_places_refused", "Who waited for a place in vain", ["of"])
FETCHED_BYTES = Gauge(
    "kith_fetched_bytes", "Bytes kept of other servers' media and previews", multiprocess_mode="mostrecent"
)
FETCHED_DROPPED = Counter("kith_fetched_dropped", "Media and previews of other servers that were dropped", ["reason"])
DELIVERIES = Counter("kith_federation_deliveries", "Attempts to deliver an activity to another server", ["result"])
REPLICA_LAG = Gauge(
    "kith_replica_lag_seconds", "How far a read replica was behind", ["replica"], multiprocess_mode="mostrecent"
)
REPLICA_FIT = Gauge(
    "kith_replica_fit", "1 where a read replica is asked for what may lag", ["replica"], multiprocess_mode="mostrecent"
)
REPLICA_READS = Counter("kith_replica_reads", "Statements that a read replica was asked", ["outcome"])
BACKUP_SUCCEEDED_AT = Gauge(
    "kith_backup_last_success_timestamp_seconds",
    "When the last backup that succeeded ended",
    multiprocess_mode="mostrecent",
)
BACKUP_SIZE = Gauge("kith_backup_last_size_bytes", "What the last backup holds", multiprocess_mode="mostrecent")
BACKUP_NEW_BYTES = Gauge(
    "kith_backup_last_new_bytes", "What the last backup added to its repository", multiprocess_mode="mostrecent"
)
BACKUPS_FAILED = Gauge(
    "kith_backup_last_failed", "1 when the last backup that was tried has failed", multiprocess_mode="mostrecent"
)
BACKUP_REHEARSED_AT = Gauge(
    "kith_backup_rehearsal_timestamp_seconds",
    "When the last rehearsal of a restore ended",
    multiprocess_mode="mostrecent",
)
BACKUP_REHEARSAL_OK = Gauge(
    "kith_backup_rehearsal_success", "1 when the last rehearsal of a restore succeeded", multiprocess_mode="mostrecent"
)
JOBS_DONE = Counter("kith_jobs", "Jobs that ended", ["kind", "outcome"])
JOBS_SECONDS = Histogram("kith_job_seconds", "Time a job took, or a batch of them done at once", ["kind"])
LOOP_LAG = Histogram(
    "kith_loop_lag_seconds",
    "How late the event loop was, looked at every second",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5),
)
MEMORY = Gauge("kith_memory_bytes", "Memory of the server's processes", multiprocess_mode="livesum")
AUDIT_EVENTS = Counter("kith_audit_events", "Events of the audit trail: sign-ins, refusals, changes", ["action"])
COUNTED_EVENTS = Counter(
    "kith_counted_events",
    "What the log sums up: packets, requests and jobs that failed or were refused",
    ["event"],
)
DATABASE_STATEMENTS = Counter("kith_database_statements", "Statements that were run")
DATABASE_SLOW = Counter("kith_database_slow_statements", "Statements that took longer than a tenth of a second")
DATABASE_SECONDS = Counter("kith_database_seconds", "Time that statements took")
DATABASE_CONNECTIONS = Gauge(
    "kith_database_connections",
    "Connections to the database, and who waits for one",
    ["state"],
    multiprocess_mode="livesum",
)
DATABASE_TURN_SECONDS = Counter(
    "kith_database_write_turn_seconds", "Time in which one session kept all others from writing (SQLite)"
)
DATABASE_LONG_TURNS = Counter(
    "kith_database_long_write_turns", "Times that one did so for longer than a tenth of a second (SQLite)"
)
DATABASE_BYTES = Gauge("kith_database_bytes", "Size of the database", multiprocess_mode="mostrecent")
DISK_FREE = Gauge("kith_disk_free_bytes", "Free on the disk of the data folder", multiprocess_mode="mostrecent")
DISK_SIZE = Gauge("kith_disk_size_bytes", "Size of the disk of the data folder", multiprocess_mode="mostrecent")
JOBS_WAITING = Gauge("kith_jobs_waiting", "Jobs that are due or under way", ["kind"], multiprocess_mode="mostrecent")
JOBS_DEAD = Gauge("kith_jobs_dead", "Jobs that were given up", multiprocess_mode="mostrecent")
JOBS_OLDEST = Gauge("kith_jobs_oldest_seconds", "How long the oldest job has been due", multiprocess_mode="mostrecent")
DELIVERIES_WAITING = Gauge(
    "kith_federation_deliveries_waiting", "Deliveries that have not arrived yet", multiprocess_mode="mostrecent"
)
HOSTS_UNAVAILABLE = Gauge(
    "kith_federation_hosts_unavailable", "Servers that have not answered for days", multiprocess_mode="mostrecent"
)
PEOPLE = Gauge("kith_people", "People here, and those who were here of late", ["state"], multiprocess_mode="mostrecent")
CERTIFICATE_END = Gauge(
    "kith_certificate_end_timestamp_seconds",
    "When the server's own certificate ends",
    multiprocess_mode="mostrecent",
)


class Level:
    """A number that goes up and down with every request: plain to count, and told to whoever watches every so often."""

    def __init__(self, gauge: Gauge) -> None:
        self.count = 0
        self._gauge = gauge

    def tell(self) -> None:
        self._gauge.set(self.count)


IN_FLIGHT = Level(Gauge("kith_requests_in_flight", "Requests being answered", multiprocess_mode="livesum"))


class MetricsServers:
    """Where the numbers are read, in threads of their own.

    Always at a socket in the data folder, for `kith top`; at an address for Prometheus if the operator wants it.

    With several web processes each writes its numbers to `folder`, and the one that keeps them adds them up.
    """

    def __init__(self, data: Path, name: str, address: tuple[str, int] | None, *, folder: str | None = None) -> None:
        registry = REGISTRY
        if folder is not None:
            registry = CollectorRegistry()
            MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call]
            registry.register(PROCESS_DEATHS)  # which only the one that keeps them counts
        self._servers: list[Any] = []
        if address is not None:
            from prometheus_client.exposition import start_http_server  # noqa: PLC0415 - loaded when first used

            server, _thread = start_http_server(address[1], address[0], registry)
            self._servers.append(server)
        self._path = data / "metrics" / f"{name}.sock"
        self._listen(registry)

    def _listen(self, registry: CollectorRegistry) -> None:
        class Page(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                from prometheus_client.exposition import generate_latest  # noqa: PLC0415 - loaded when first used

                # Who asks and does not read holds up nobody else, nor the end of the process.
                self.request.settimeout(PATIENCE_SECONDS)
                with contextlib.suppress(OSError):
                    self.request.sendall(generate_latest(registry))

        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _sweep(self._path.parent)
            server = socketserver.UnixStreamServer(str(self._path), Page)
        except OSError:  # the path is too long for a socket, say: then there is no `kith top`
            return
        self._servers.append(server)
        threading.Thread(target=server.serve_forever, args=(1.0,), name="metrics", daemon=True).start()

    def stop(self) -> None:
        """A server looks once in a second whether it shall end, unless somebody comes: so we come."""
        for server in self._servers:
            ending = threading.Thread(target=server.shutdown)
            ending.start()
            with contextlib.suppress(OSError), socket.socket(server.address_family) as caller:
                caller.settimeout(PATIENCE_SECONDS)
                caller.connect(server.server_address)
            ending.join()
            server.server_close()
        self._path.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """What processes have left that were killed."""
    for path in folder.glob("*.sock"):
        with socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(PATIENCE_SECONDS)
            try:
                asking.connect(str(path))
            except ConnectionRefusedError:
                path.unlink(missing_ok=True)
            except OSError:
                continue  # one that is busy lives


def read_socket(path: Path) -> str | None:
    """What a process of this machine tells of itself; None where it is gone."""
    try:
        with socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(PATIENCE_SECONDS)
            asking.connect(str(path))
            return b"".join(iter(lambda: asking.recv(65536), b"")).decode()
    except OSError:
        return None
