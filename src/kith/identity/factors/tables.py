from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, String, Table, Text

from kith.base.db import METADATA, UID, Document, Instant

# What every kind of device has; `failures` and `failed_at` slow down whoever guesses.
factors = Table(
    "identity_factors",
    METADATA,
    Column("device_uuid", UID, primary_key=True),
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("name", String(150), nullable=False),
    Column("confirmed", Boolean, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("failed_at", Instant),
    Column("created_at", Instant, nullable=False),
    Column("last_used_at", Instant),
    Index("ix_identity_factors_user_id", "user_id"),
)


def _of_factor() -> ForeignKey:
    return ForeignKey("identity_factors.device_uuid", ondelete="CASCADE")


totp = Table(
    "identity_factors_totp",
    METADATA,
    Column("device_uuid", UID, _of_factor(), primary_key=True),
    Column("secret", Text, nullable=False),
    Column("digits", Integer, nullable=False),
    Column("last_step", BigInteger, nullable=False),
)

codes = Table(
    "identity_factor_codes",
    METADATA,
    Column("device_uuid", UID, _of_factor(), primary_key=True),
    Column("code_hash", String(64), primary_key=True),
)

passkeys = Table(
    "identity_factors_webauthn",
    METADATA,
    Column("device_uuid", UID, _of_factor(), primary_key=True),
    Column("credential_id", String(1400), nullable=False, unique=True),
    Column("public_key", Text, nullable=False),
    Column("sign_count", BigInteger, nullable=False),
    Column("transports", Document, nullable=False),
    Column("aaguid", String(36), nullable=False),
)


class Factor(msgspec.Struct):
    """A second factor: an authenticator app (`totp`), a list of codes (`static`) or a passkey (`webauthn`)."""

    device_uuid: str
    user_id: int
    kind: str
    name: str
    confirmed: bool
    failures: int
    failed_at: datetime | None
    created_at: datetime
    last_used_at: datetime | None


class TOTP(msgspec.Struct):
    device_uuid: str
    secret: str
    digits: int
    last_step: int


class Passkey(msgspec.Struct):
    """The public key of a passkey; the private key never leaves its device."""

    device_uuid: str
    credential_id: str
    public_key: str
    sign_count: int
    transports: Any
    aaguid: str
