"""/core/email_blocks/: mail domains and addresses with which nobody can sign up."""

from __future__ import annotations

from sqlalchemy import Column

from kith.base.db import UID
from kith.identity.rest import Draft, Resource, record_table
from kith.identity.rest.fields import Choice, Text
from kith.identity.users.names import email_key

FIELDS = (
    Choice(name="kind", default="domain", choices=("domain", "address")),
    Text(name="value", required=True, unique=True, most=254, help="A domain counts for those below it, too."),
    Text(name="comment", default="", most=2000),
)

email_blocks = record_table("identity_email_blocks", Column("block_uuid", UID, primary_key=True), fields=FIELDS)


async def check(draft: Draft) -> None:
    """Kept in the one way addresses are compared in."""
    if not draft.sets("value"):
        return
    value = str(draft.values["value"]).strip()
    is_address = draft.now("kind") == "address"
    if is_address != ("@" in value.removeprefix("@")) or " " in value:
        draft.complain("value", "This is not an address." if is_address else "This is not a domain.")
    draft.values["value"] = email_key(value) if is_address else value.removeprefix("@").rstrip(".").lower()


RESOURCE = Resource(
    path="/core/email_blocks/",
    record="EmailBlock",
    key="block_uuid",
    table=email_blocks,
    fields=FIELDS,
    search=("value", "comment"),
    order=("value",),
    exact=("kind", "value"),
    prepare=check,
)
