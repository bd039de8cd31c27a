from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Integer, String, Table, Text, text

from kith.base.db import METADATA, Instant

signups = Table(
    "identity_signups",
    METADATA,
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), primary_key=True),
    Column("reason", Text, nullable=False),
    Column("locale", String(35), nullable=False),
    Column("client_ip", String(45), nullable=False),
    Column("client_name", Text, nullable=False),
    Column("created_at", Instant, nullable=False, index=True),
    Column("invited_by", Integer, ForeignKey("identity_users.id", ondelete="SET NULL"), index=True),
    Column("app_id", BigInteger),
    Column("autofollow", Boolean, nullable=False, server_default=text("false")),
)

# One row at most: since when sign-ups need approval although the operator's setting says that they are open.
signup_modes = Table(
    "identity_signup_modes",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("approval_since", Instant, nullable=False),
)


class Signup(msgspec.Struct):
    """How somebody came to have an account: what they said about themselves, from where, and by whose invitation.

    `autofollow`: whoever invited them is to be followed by them.
    """

    user_id: int
    reason: str
    locale: str
    client_ip: str
    client_name: str
    created_at: datetime
    invited_by: int | None = None
    app_id: int | None = None
    autofollow: bool = False
