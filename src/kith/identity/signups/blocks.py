"""/core/email_blocks/: mail domains and addresses with which nobody can sign up."""

from __future__ import annotations

import re
from datetime import datetime

from sqlalchemy import Column, select

from kith.base.db import UID, any_of, query
from kith.base.work import Work
from kith.identity.admission import PeopleGate
from kith.identity.rest import RecordDraft, Resource, record_table
from kith.identity.rest.fields import Choice, Text
from kith.identity.rest.record import Record
from kith.identity.users.names import domain_key, email_key

FIELDS = (
    Choice(name="kind", default="domain", choices=("domain", "address")),
    Text(name="value", required=True, unique=True, most=254, help="A domain counts for those below it, too."),
    Text(name="comment", default="", most=2000),
)


class EmailBlockRecord(Record, kw_only=True):
    pk: str
    block_uuid: str
    kind: str
    value: str
    comment: str
    created: datetime
    last_updated: datetime


email_blocks = record_table("identity_email_blocks", Column("block_uuid", UID, primary_key=True), fields=FIELDS)

_any_of_these = query(select(email_blocks.c.value).where(any_of(email_blocks.c.value, "values")).limit(1), str)
_DOMAIN = re.compile(r"[^\s@/:.]+(\.[^\s@/:.]+)*")


async def is_blocked(work: Work, email: str) -> bool:
    """Whether this address, its domain or one above is blocked."""
    address = email_key(email)
    local, _, host = address.rpartition("@")
    labels = host.split(".")
    plain = f"{local.partition('+')[0]}@{host}"  # what stands behind a plus is a note to oneself
    above = [".".join(labels[place:]) for place in range(len(labels))]
    if await work.db.one(_any_of_these, values=[address, plain, *above]) is not None:
        return True
    return await work.find(PeopleGate).refuses_email(work, email, at_signup=True)  # type: ignore[type-abstract]


async def check(draft: RecordDraft[EmailBlockRecord]) -> None:
    """The value is stored in the normal form in which addresses are compared."""
    if draft.is_new:
        draft.columns["kind"] = draft.now.kind  # the column of this name is not the family's here
    if not draft.sets("value") and not draft.sets("kind"):
        return
    value = str(draft.now.value).strip()
    if draft.now.kind == "address":
        local, at, host = value.rpartition("@")
        if not at or not local or not _DOMAIN.fullmatch(host) or re.search(r"\s", local):
            draft.complain("value", "This is not an address.")
        draft.now.value = email_key(value)
        return
    domain = domain_key(value.removeprefix("@"))
    if not _DOMAIN.fullmatch(domain):
        draft.complain("value", "This is not a domain.")
    draft.now.value = domain


RESOURCE = Resource(
    path="/core/email_blocks/",
    name="EmailBlock",
    record=EmailBlockRecord,
    key="block_uuid",
    table=email_blocks,
    fields=FIELDS,
    search=("value", "comment"),
    order=("value",),
    exact=("kind", "value"),
    prepare=check,
)
