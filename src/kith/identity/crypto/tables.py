from __future__ import annotations

from sqlalchemy import Column

from kith.base.db import UID
from kith.identity.rest import record_table
from kith.identity.rest.fields import Boolean, Choice, Computed, Moment, Secret, Text

_URI = {"type": "string", "format": "uri"}

FIELDS = (
    Text(name="name", required=True, unique=True, most=255),
    Text(name="certificate_data", required=True, trim=False, write_only=True, most=65_536),
    Secret(name="key_data", default="", most=65_536),
    Text(name="managed", null=True, default=None, unique=True, most=255, read_only=True),
    Text(name="fingerprint_sha256", null=True, read_only=True, most=95),
    Text(name="fingerprint_sha1", null=True, read_only=True, most=59),
    Moment(name="cert_expiry", null=True, read_only=True),
    Text(name="cert_subject", null=True, read_only=True),
    Boolean(name="private_key_available", read_only=True),
    Choice(name="key_type", null=True, read_only=True, choices=("rsa", "ec", "dsa", "ed25519", "ed448")),
    Computed(name="certificate_download_url", form=_URI),
    Computed(name="private_key_download_url", form=_URI),
)

keypairs = record_table("identity_keypairs", Column("kp_uuid", UID, primary_key=True), fields=FIELDS)
