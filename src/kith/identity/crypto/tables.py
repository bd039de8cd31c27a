from __future__ import annotations

from sqlalchemy import Column

from kith.base.db import UID
from kith.identity.rest import record_table
from kith.identity.rest.fields import Secret, Text

FIELDS = (
    Text(name="name", required=True, unique=True, most=255),
    Text(name="certificate_data", required=True, trim=False, write_only=True, most=65_536),
    Secret(name="key_data", default="", most=65_536),
    Text(name="managed", null=True, default=None, unique=True, most=255, read_only=True),
)

keypairs = record_table("identity_keypairs", Column("kp_uuid", UID, primary_key=True), fields=FIELDS)
