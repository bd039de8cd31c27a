"""Reputation: a score for each pair of a login name and an address that it was tried from."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Column, ColumnElement, Index, UniqueConstraint, and_, bindparam, case, delete, func, or_, select
from sqlalchemy import Integer as SQLInteger
from sqlalchemy import String as SQLString

from kith.base.db import UID, Instant, command, query, upsert
from kith.base.work import Work
from kith.identity.locations.service import Locations
from kith.identity.rest import Resource, record_table
from kith.identity.rest.fields import Computed, Integer, Moment, Text
from kith.identity.rest.record import Record

KEPT = timedelta(days=1)
LEAST, MOST = -5, 5

_FACTS = {"type": ["object", "null"], "additionalProperties": True}

FIELDS = (
    Text(name="identifier", read_only=True, most=255),
    Text(name="ip", read_only=True, most=45),
    Integer(name="score", read_only=True),
    Moment(name="updated", read_only=True, stored_as="updated_at"),
    Computed(name="expires", form={"type": "string", "format": "date-time"}),
    Computed(name="ip_geo_data", form=_FACTS, help="Where the address is, if the server has a file of addresses."),
    Computed(name="ip_asn_data", form=_FACTS, help="The network of the address, likewise."),
)


class ReputationRecord(Record, kw_only=True):
    pk: str
    reputation_uuid: str
    identifier: str
    ip: str
    score: int
    updated: datetime
    expires: datetime | msgspec.UnsetType = msgspec.UNSET
    ip_geo_data: dict[str, Any] | None = None
    ip_asn_data: dict[str, Any] | None = None
    created: datetime


scores = record_table(
    "identity_reputation",
    Column("reputation_uuid", UID, primary_key=True),
    fields=FIELDS[:3],
)
scores.append_constraint(UniqueConstraint("identifier", "ip"))
Index("ix_identity_reputation_ip", scores.c.ip)

_sum = query(
    select(func.coalesce(func.sum(scores.c.score), 0)).where(
        and_(
            scores.c.updated_at > bindparam("since", type_=Instant()),
            or_(
                scores.c.identifier == bindparam("identifier", type_=SQLString()),
                scores.c.ip == bindparam("ip", type_=SQLString()),
            ),
        )
    ),
    int,
)


_by = bindparam("by", type_=SQLInteger())
_since = bindparam("since", type_=Instant())
_at = bindparam("now", type_=Instant())


def _bounded(score: ColumnElement[int]) -> ColumnElement[int]:
    return case((score > MOST, MOST), (score < LEAST, LEAST), else_=score)


_change = command(
    upsert(scores)
    .values(
        reputation_uuid=bindparam("id", type_=UID()),
        identifier=bindparam("identifier", type_=SQLString()),
        ip=bindparam("ip", type_=SQLString()),
        score=bindparam("first", type_=SQLInteger()),
        created_at=_at,
        updated_at=_at,
    )
    .on_conflict_do_update(
        index_elements=[scores.c.identifier, scores.c.ip],
        set_={
            "score": _bounded(case((scores.c.updated_at > _since, scores.c.score), else_=0) + _by),
            "updated_at": _at,
        },
    )
    .inline()
)


_delete_expired = command(delete(scores).where(scores.c.updated_at <= _since))


async def change(work: Work, *, identifier: str, ip: str, by: int) -> None:
    """Add to a score, within its bounds; what is older than a day starts from zero."""
    name = identifier.replace("\0", "")[:255]
    await work.db.run(
        _change,
        id=str(uuid.uuid4()),
        identifier=name,
        ip=ip[:45],
        by=by,
        first=max(LEAST, min(by, MOST)),
        now=work.now,
        since=work.now - KEPT,
    )


async def score_of(work: Work, *, identifier: str = "", ip: str = "") -> int:
    """The sum of the scores with this name or address that are not older than a day."""
    total = await work.db.one(_sum, identifier=identifier or None, ip=ip or None, since=work.now - KEPT)
    return int(total or 0)  # PostgreSQL adds up in decimals


async def delete_expired(work: Work) -> None:
    await work.db.run(_delete_expired, since=work.now - KEPT)


async def decorate(work: Work, records: list[ReputationRecord]) -> None:
    known = work.find(Locations)
    for record in records:
        place, network = known.place(record.ip), known.network(record.ip)
        record.expires = record.updated + KEPT
        record.ip_geo_data = place.facts() if place is not None else None
        record.ip_asn_data = network.facts() if network is not None else None


RESOURCE = Resource(
    path="/policies/reputation/scores/",
    name="Reputation",
    record=ReputationRecord,
    key="reputation_uuid",
    table=scores,
    fields=FIELDS,
    search=("identifier", "ip"),
    order=("-updated",),
    exact=("identifier", "ip"),
    allow=frozenset({"list", "read", "delete"}),
    label="identifier",
    decorate=decorate,
)
