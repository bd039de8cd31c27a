from __future__ import annotations

from sqlalchemy import Column

from kith.base.db import UID
from kith.identity.rest import record_table
from kith.identity.rest.fields import Boolean, Choice, Choices, Moment, Object, Text

__all__ = ["FIELDS", "STATUSES", "instances"]

STATUSES = ("unknown", "successful", "warning", "error", "orphaned")
LONGEST_CONTENT = 262_144

FIELDS = (
    Text(name="name", required=True, unique=True, most=200),
    Text(name="path", default="", most=500, help="A file below the blueprint folder."),
    Text(name="content", default="", most=LONGEST_CONTENT, trim=False, guarded=True, help="YAML, in place of a file."),
    Object(name="context", guarded=True, help="Merged over the context of the blueprint itself."),
    Boolean(name="enabled", default=True),
    Choice(name="status", choices=STATUSES, read_only=True),
    Moment(name="last_applied", null=True, read_only=True),
    Text(name="last_applied_hash", read_only=True),
    Choices(name="managed_models", read_only=True),
    Object(name="metadata", read_only=True),
    Choices(name="log", read_only=True, help="What the last run had to say: warnings, or why it failed."),
)

instances = record_table(
    "identity_blueprints",
    Column("instance_uuid", UID, primary_key=True),
    fields=FIELDS,
)
