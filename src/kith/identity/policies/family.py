"""What all policies have: a name and a kind. Each kind is a page in kinds/."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

from sqlalchemy import Column, String

from kith.base.db import UID
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.named_in_policies import refuse_if_called
from kith.identity.rest.fields import Boolean, Text
from kith.identity.rest.record import Record
from kith.identity.rest.resource import Family, record_table


def new_name() -> str:
    return f"policy-{secrets.token_hex(4)}"


class PolicyName(Text, frozen=True, kw_only=True):
    """The name may be left out, null or empty; one is made up then."""

    default: Any = new_name
    unique: bool = True
    blank: bool | None = True
    most: int | None = 255

    def read(self, value: Any) -> Any:
        return (None if value is None else self.take(value)) or new_name()

    def schema(self) -> dict[str, Any]:
        return Text.schema(self) | {"type": ["string", "null"]}


FIELDS = (
    PolicyName(name="name"),
    Boolean(name="execution_logging", default=False, help="Write an event for each run, not only for errors."),
)


class PolicyRecord(Record, kw_only=True):
    """What every policy has."""

    pk: str
    policy_uuid: str
    name: str
    execution_logging: bool
    created: datetime
    last_updated: datetime


policies = record_table(
    "identity_policies",
    Column("policy_uuid", UID, primary_key=True),
    Column("kind", String(40), nullable=False, index=True),
    fields=FIELDS,
)


async def removing(work: Work, record: PolicyRecord, _caller: ApiCaller) -> None:
    await refuse_if_called(work.db, record.policy_uuid, record.name)


POLICIES = Family(table=policies, key="policy_uuid", fields=FIELDS, decides=True, removing=removing)
