"""What other services hold of ours, what they wait for, and how it goes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, String, Table, Text

from kith.base.db import METADATA, UID, Document, Instant

MOST_IN_REMOTE_ID = 500


def _provider(*, primary_key: bool = True) -> Column[int]:
    return Column(
        "provider",
        Integer,
        ForeignKey("identity_providers.id", ondelete="CASCADE"),
        primary_key=primary_key,
        autoincrement=False,
    )


# One row for each provider. Whoever holds it until `held_until` is the only one who tells that service anything.
# `sweep` is how far a look at everybody has come, null where none is under way; `sweep_again`: one more is wanted.
targets = Table(
    "identity_scim_targets",
    METADATA,
    _provider(),
    Column("held_by", UID),
    Column("held_until", Instant),
    Column("paused_until", Instant),
    Column("failures", Integer, nullable=False),
    Column("error", Text),
    Column("config", Document, nullable=False),
    Column("config_at", Instant),
    Column("sweep", String(60)),
    Column("sweep_again", Boolean, nullable=False),
    Column("started_at", Instant),
    Column("finished_at", Instant),
)

# People and groups that may have to be told. `mark` changes with every change, so that one that comes while the
# service is told of the one before is not lost.
waiting = Table(
    "identity_scim_waiting",
    METADATA,
    _provider(),
    Column("kind", String(10), primary_key=True),
    Column("local_id", String(40), primary_key=True),
    Column("mark", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("run_at", Instant, nullable=False),
    Column("error", Text),
    Index("ix_identity_scim_waiting_run_at", "provider", "run_at"),
)

# What the service calls ours. People and groups that are gone here stay until they are gone there, too.
remotes = Table(
    "identity_scim_remotes",
    METADATA,
    _provider(),
    Column("kind", String(10), primary_key=True),
    Column("local_id", String(40), primary_key=True),
    Column("remote_id", String(MOST_IN_REMOTE_ID), nullable=False),
    Column("name", Text, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("is_active", Boolean, nullable=False),
    Column("pushed_at", Instant, nullable=False),
)

# Who is a member of which group at the service.
remote_members = Table(
    "identity_scim_remote_members",
    METADATA,
    _provider(),
    Column("group_uuid", UID, primary_key=True),
    Column("user_id", Integer, primary_key=True, autoincrement=False),
    Index("ix_identity_scim_remote_members_user", "provider", "user_id"),
)


class TargetState(msgspec.Struct):
    provider: int
    held_by: str | None
    held_until: datetime | None
    paused_until: datetime | None
    failures: int
    error: str | None
    config: dict[str, Any]
    config_at: datetime | None
    sweep: str | None
    sweep_again: bool
    started_at: datetime | None
    finished_at: datetime | None


class WaitingResource(msgspec.Struct):
    kind: str
    local_id: str
    mark: int
    attempts: int
    error: str | None


class RemoteResource(msgspec.Struct):
    """`digest` is of what was last sent; `is_active` is False where the person was deactivated."""

    kind: str
    local_id: str
    remote_id: str
    name: str
    digest: str
    is_active: bool
    pushed_at: datetime
