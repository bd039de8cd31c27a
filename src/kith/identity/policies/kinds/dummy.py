"""Waits a while and gives a fixed answer: for trying out bindings."""

from __future__ import annotations

import asyncio
import random

from kith.base.work import Work
from kith.identity.policies.family import POLICIES, PolicyRecord
from kith.identity.policies.request import PolicyRequest, PolicyVerdict
from kith.identity.rest.fields import Boolean, Integer
from kith.identity.rest.record_draft import RecordDraft
from kith.identity.rest.resource import Resource, kind_table

FIELDS = (
    Boolean(name="result", default=False),
    Integer(name="wait_min", default=5, least=0),
    Integer(name="wait_max", default=30, least=0),
)


class DummyPolicy(PolicyRecord, kw_only=True):
    result: bool
    wait_min: int
    wait_max: int


async def check(draft: RecordDraft[DummyPolicy]) -> None:
    if draft.now.wait_min > draft.now.wait_max:
        draft.complain("wait_max", "Ensure this value is greater than or equal to wait_min.")


async def passes(work: Work, record: DummyPolicy, request: PolicyRequest) -> PolicyVerdict:  # noqa: ARG001 - as all kinds
    """In a test it only says how long it would have waited."""
    least, most = record.wait_min, record.wait_max
    seconds = least if least == most else random.randrange(least, most)  # noqa: S311 - nothing to guess
    if not request.is_test:
        await asyncio.sleep(seconds)
    return PolicyVerdict(passing=record.result, messages=["dummy"], log=[f"waits for {seconds} seconds"])


RESOURCE = Resource(
    path="/policies/dummy/",
    name="DummyPolicy",
    record=DummyPolicy,
    key="policy_uuid",
    family=POLICIES,
    kind="dummy",
    table=kind_table("identity_policies_dummy", POLICIES, FIELDS),
    fields=FIELDS,
    exact=("name", "result", "wait_min", "wait_max"),
    prepare=check,
)
