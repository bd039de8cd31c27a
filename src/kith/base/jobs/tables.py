from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Index,
    Integer,
    SmallInteger,
    String,
    Table,
    Text,
    and_,
    literal_column,
    text,
)

from kith.base.db import METADATA, UID, Instant, alias_of, any_row, index_of_some

READY, RUNNING, DEAD = 0, 1, 2
SUSPECT = "deaths > 0"
KEYED = "key IS NOT NULL"
IN_TURNS = "lane <> 'quick'"  # the quick ones are taken as they come

jobs = Table(
    "base_jobs",
    METADATA,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", String(100), nullable=False),
    Column("lane", String(100), nullable=False),
    Column("payload", Text, nullable=False),
    Column("key", String(200)),
    Column("state", SmallInteger, nullable=False),
    Column("run_at", Instant, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("deaths", Integer, nullable=False, server_default=text("0")),  # in a row, of workers that were running it
    Column("held_by", UID),
    Column("held_until", Instant),
    Column("error", Text),
    Column("created_at", Instant, nullable=False),
    Column("request", String(100), nullable=False, server_default=text("''")),  # of which it is a consequence
    Column("owner", String(255), nullable=False, server_default=text("''")),  # on whose behalf; the server's own: empty
    Index("ix_base_jobs_claim", "lane", "state", "run_at", "id"),
    Index(
        "ix_base_jobs_turns",
        *("lane", "state", "owner", "run_at", "id"),
        sqlite_where=text(IN_TURNS),
        postgresql_where=text(IN_TURNS),
    ),
    index_of_some("base_jobs", "held_until"),
    Index("uq_base_jobs_key", "kind", "key", unique=True, sqlite_where=text(KEYED), postgresql_where=text(KEYED)),
    Index("ix_base_jobs_suspect", "state", "run_at", postgresql_where=text(SUSPECT), sqlite_where=text(SUSPECT)),
)


def is_waiting(kind: str) -> ColumnElement[bool]:
    """Whether a job of the kind is still to be done: part of a statement, so true at the moment of all else in it."""
    own = alias_of(jobs)
    return any_row(own, and_(own.c.kind == literal_column(f"'{kind}'"), own.c.state != literal_column(str(DEAD))))


schedules = Table(
    "base_job_schedules",
    METADATA,
    Column("kind", String(100), primary_key=True),
    Column("next_at", Instant, nullable=False),
)

workers = Table(
    "base_job_workers",
    METADATA,
    Column("id", UID, primary_key=True),
    Column("name", String(200), nullable=False),
    Column("seen_at", Instant, nullable=False),
    Index("ix_base_job_workers_seen_at", "seen_at"),
)


class Claimed(msgspec.Struct):
    """What a worker needs of a job it has taken."""

    id: int
    kind: str
    payload: str
    attempts: int
    created_at: datetime
    owner: str
    request: str = ""  # the id of the request that led to it and, with traces, the span it was asked for in


class TakenOver(msgspec.Struct):
    """A job whose worker died, and what became of it."""

    id: int
    kind: str
    state: int


class Job(msgspec.Struct):
    """A job as staff see it."""

    id: int
    kind: str
    lane: str
    payload: str
    key: str | None
    state: int
    run_at: datetime
    attempts: int
    deaths: int
    held_by: str | None
    held_until: datetime | None
    error: str | None
    created_at: datetime
    request: str = ""
    owner: str = ""
