"""Records and the context of a flow as structs: they fit the fields they stand for, and what was stored before."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
import pytest
from sqlalchemy import Column, MetaData

from kith.base.db import UID
from kith.identity.flows.plan import FlowPlan
from kith.identity.flows.plan_context import PlanContext
from kith.identity.rest import Record, Resource, record_table
from kith.identity.rest.fields import Boolean, Choice, Computed, Field, Input, Integer, Moment, Object, Text
from kith.identity.rest.record import as_dict

FIELDS: tuple[Field, ...] = (
    Text(name="name", required=True),
    Integer(name="size", null=True),
    Choice(name="_mode", choices=("a", "b")),
    Object(name="extra"),
    Moment(name="seen", null=True),
    Boolean(name="is_new", kept=False),
    Computed(name="count", form={"type": "integer"}),
    Input(name="password"),
)
things = record_table("things", Column("uuid", UID, primary_key=True), fields=FIELDS, metadata=MetaData())


class Thing(Record, kw_only=True):
    pk: str
    uuid: str
    name: str
    size: int | None
    mode: str = msgspec.field(name="_mode")
    extra: dict[str, Any]
    seen: datetime | None
    is_new: bool = False
    count: int | msgspec.UnsetType = msgspec.UNSET
    created: datetime
    last_updated: datetime


class Lacking(Record, kw_only=True):
    pk: str
    uuid: str
    name: str
    extra: dict[str, Any]
    mode: str = msgspec.field(name="_mode")
    seen: datetime | None
    is_new: bool = False
    count: int = 0
    created: datetime
    last_updated: datetime


class Foreign(Thing, kw_only=True):
    colour: str = ""


class Mistyped(Thing, kw_only=True):
    size: str | None  # type: ignore[assignment]


def declare(record: type[Record]) -> Resource[Any]:
    return Resource(path="/things/", name="Thing", record=record, key="uuid", table=things, fields=FIELDS)


def test_a_struct_that_fits_its_fields_is_taken() -> None:
    now = datetime.now().astimezone()
    thing = Thing(pk="1", uuid="1", name="x", size=None, mode="a", extra={}, seen=None, created=now, last_updated=now)

    assert declare(Thing).record is Thing
    assert "_mode" in as_dict(thing)
    assert "count" not in as_dict(thing)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (Lacking, "Lacking does not fit the fields of /things/: it lacks size"),
        (Foreign, "Foreign does not fit the fields of /things/: colour is no field"),
        (Mistyped, r"Mistyped .* size is str \| None, the field holds int \| None"),
    ],
)
def test_a_struct_that_does_not_fit_its_fields_is_refused_when_it_is_declared(record: type[Record], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        declare(record)


def test_a_plan_of_an_older_release_is_read_with_all_it_knew() -> None:
    stored = b"""{"run_uuid": "r", "flow_uuid": "f", "steps": [], "query": {}, "given": ["is_sso", "_cancel"], "context": {
        "pending_user": 7, "pending_user_identifier": "ada", "is_sso": true, "_cancel": "/back", "_invitation": "i",
        "_proved": [7, 12.5], "_expired": "hash", "prompt_data": {"attributes.colour": "red"}}}"""

    context = msgspec.json.decode(stored, type=FlowPlan).context

    assert (context.user_id, context.cancel_url, context.invitation_uuid) == (7, "/back", "i")
    assert (context.reauthenticated, context.expired_password) == ((7, 12.5), "hash")
    assert context.public() == {
        "pending_user": 7,
        "pending_user_identifier": "ada",
        "is_sso": True,
        "prompt_data": {"attributes.colour": "red"},
    }
    assert context.only(["is_sso", "_cancel"]) == PlanContext(is_sso=True, cancel_url="/back")


def test_a_plan_that_cannot_be_read_is_told_as_such() -> None:
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(
            b'{"run_uuid": "r", "flow_uuid": "f", "steps": [], "query": {}, "context": {"_proved": "yes"}}',
            type=FlowPlan,
        )


@pytest.mark.parametrize(
    ("context", "names"),
    [
        (PlanContext(), []),
        (PlanContext(pending_user=None), ["pending_user"]),
        (PlanContext(consent_ask=False, link_hash="x"), ["consent_ask", "_link"]),
    ],
)
def test_a_context_is_stored_with_what_was_set_and_nothing_else(context: PlanContext, names: list[str]) -> None:
    stored = msgspec.json.encode(context)

    assert context.names() == names
    assert sorted(msgspec.json.decode(stored)) == sorted(names)
    assert msgspec.json.decode(stored, type=PlanContext) == context
