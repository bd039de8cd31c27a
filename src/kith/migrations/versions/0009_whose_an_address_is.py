"""Whose an address is: it counts for one person only, and is known to be proven or not. Known addresses, and hints.

An address that was confirmed counts as before, and is taken as proven unless it was confirmed in the very moment of the
sign-up, which is what happened where nothing was confirmed at all. So does the address of whoever has signed in without
confirming it, as not proven. Where several people have one address, it stays with the one who proved it first.
"""

from __future__ import annotations

import unicodedata
from typing import Any

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0009"
down_revision = "0008"

_NAMES = (
    "id",
    "email",
    "email_key",
    "owned_email_key",
    "created_at",
    "confirmed_at",
    "last_login_at",
    "email_verified_at",
)
_users = sa.table("identity_users", *(sa.column(name) for name in _NAMES))
_signups = sa.table("identity_signups", sa.column("user_id"))


def upgrade() -> None:
    op.create_table(
        "identity_known_addresses",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("last_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["identity_users.id"], name=op.f("fk_identity_known_addresses_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "address", name=op.f("pk_identity_known_addresses")),
    )
    op.create_index(op.f("ix_identity_known_addresses_last_at"), "identity_known_addresses", ["last_at"])
    op.create_table(
        "identity_hints",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("sent_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["identity_users.id"], name=op.f("fk_identity_hints_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "kind", name=op.f("pk_identity_hints")),
    )
    op.add_column("identity_users", sa.Column("owned_email_key", sa.String(length=254), nullable=True))
    op.add_column("identity_users", sa.Column("email_verified_at", db.Instant(length=27), nullable=True))
    _settle_addresses(op.get_bind())
    op.create_index("ix_identity_users_owned_email_key", "identity_users", ["owned_email_key"], unique=True)


def _settle_addresses(connection: sa.Connection) -> None:
    by_themselves = {row.user_id for row in connection.execute(sa.select(_signups.c.user_id))}
    found = connection.execute(sa.select(_users).where(_users.c.email != "")).all()
    owned: set[str] = set()
    for row in sorted(found, key=lambda row: _rank(row, by_themselves)):
        key = _email_key(row.email)[:254]
        counts = row.confirmed_at is not None or row.last_login_at is not None
        mine = counts and key not in owned
        values: dict[str, Any] = {} if key == row.email_key else {"email_key": key}
        if mine:
            owned.add(key)
            values["owned_email_key"] = key
            values["email_verified_at"] = row.confirmed_at if _is_proven(row, by_themselves) else None
        if values:
            connection.execute(sa.update(_users).where(_users.c.id == row.id).values(values))


def _is_proven(row: Any, by_themselves: set[int]) -> bool:
    taken_at_their_word = row.id in by_themselves and row.confirmed_at == row.created_at
    return row.confirmed_at is not None and not taken_at_their_word


def _rank(row: Any, by_themselves: set[int]) -> tuple[bool, Any, int]:
    """Whoever has proven it comes first, and of those the first."""
    return not _is_proven(row, by_themselves), row.confirmed_at or row.created_at, row.id


def _email_key(email: str) -> str:
    """As kith.identity.users.names wrote it when this step was made."""
    local, at, host = unicodedata.normalize("NFKC", email.strip()).rpartition("@")
    key = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", local).casefold())
    plain = host.strip().rstrip(".").casefold()
    try:
        return f"{key}{at}{plain.encode('idna').decode()}"
    except UnicodeError:
        return f"{key}{at}{plain}"
