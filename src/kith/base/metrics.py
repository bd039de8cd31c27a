"""The numbers an operator watches, in Prometheus' words."""

from __future__ import annotations

from typing import Any

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector

REQUESTS = Histogram(
    "kith_request_seconds",
    "Time to answer a request",
    ["method", "route", "status"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
PASSWORD_CHECKS = Counter("kith_password_checks", "Passwords that were checked the slow way")
CONNECTIONS = Gauge("kith_connections", "Open connections", multiprocess_mode="livesum")
CONNECTIONS_CUT = Counter("kith_connections_cut", "Connections ended or refused by the server", ["reason"])
STREAMS = Gauge("kith_streams", "Open streams and sockets of the streaming API", multiprocess_mode="livesum")
STREAM_EVENTS = Counter("kith_stream_events", "Events that were handed to streams", ["event"])
STREAMS_ENDED = Counter("kith_streams_ended", "Streams that the server ended", ["reason"])
CACHE_ENTRIES = Gauge("kith_cache_entries", "What a cache holds", ["cache"], multiprocess_mode="livesum")
CACHE_HITS = Counter("kith_cache_hits", "Look-ups that a cache answered", ["cache"])
CACHE_MISSES = Counter("kith_cache_misses", "Look-ups that a cache could not answer", ["cache"])
FETCHED_BYTES = Gauge(
    "kith_fetched_bytes", "Bytes kept of other servers' media and previews", multiprocess_mode="mostrecent"
)
FETCHED_DROPPED = Counter("kith_fetched_dropped", "Media and previews of other servers that were dropped", ["reason"])
DELIVERIES = Counter("kith_federation_deliveries", "Attempts to deliver an activity to another server", ["result"])
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
REPLICA_LAG = Gauge(
    "kith_replica_lag_seconds", "How far a read replica was behind", ["replica"], multiprocess_mode="mostrecent"
)
REPLICA_FIT = Gauge(
    "kith_replica_fit", "1 where a read replica is asked for what may lag", ["replica"], multiprocess_mode="mostrecent"
)
REPLICA_READS = Counter("kith_replica_reads", "Statements that a read replica was asked", ["outcome"])
JOBS_DONE = Counter("kith_jobs", "Jobs that ended", ["kind", "outcome"])
JOBS_SECONDS = Histogram("kith_job_seconds", "Time a job took, or a batch of them done at once", ["kind"])


class Level:
    """A number that goes up and down with every request: plain to count, and told to whoever watches every so often."""

    def __init__(self, gauge: Gauge) -> None:
        self.count = 0
        self._gauge = gauge

    def tell(self) -> None:
        self._gauge.set(self.count)


IN_FLIGHT = Level(Gauge("kith_requests_in_flight", "Requests being answered", multiprocess_mode="livesum"))


def serve_metrics(host: str, port: int, *, folder: str | None = None) -> Any:
    """A page of numbers on an address of its own, in a thread of its own.

    With several web processes each writes its numbers to `folder`, and the one that keeps them adds them up.
    """
    registry = REGISTRY
    if folder is not None:
        registry = CollectorRegistry()
        MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call]
    server, _thread = start_http_server(port, host, registry)
    return server
