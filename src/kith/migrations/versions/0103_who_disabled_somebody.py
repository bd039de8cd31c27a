"""Which source has disabled somebody, in one place: it alone may enable them again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base.db import UID, Document

revision = "0103"
down_revision = "0102"

_users = sa.table(
    "identity_users",
    sa.column("id", sa.Integer()),
    sa.column("is_active", sa.Boolean()),
    sa.column("attributes", Document()),
    sa.column("disabled_by", UID()),
)
_connections = sa.table(
    "identity_source_user_connections",
    sa.column("connection_uuid", UID()),
    sa.column("user", sa.Integer()),
    sa.column("source", UID()),
    sa.column("kind", sa.String()),
)
_received = sa.table("identity_source_scim_users", sa.column("id", UID()), sa.column("is_disabled", sa.Boolean()))


def upgrade() -> None:
    op.add_column("identity_users", sa.Column("disabled_by", UID()))
    found = {**_by_directories(), **_by_services()}
    for user, source in found.items():
        op.execute(_users.update().where(_users.c.id == user).values(disabled_by=source))
    op.drop_column("identity_source_scim_users", "is_disabled")


def _by_directories() -> dict[int, str]:
    """Directories left a mark among the attributes; it stays there, and nobody reads it any more."""
    asked = (
        sa.select(_users.c.id, _users.c.attributes, _connections.c.source)
        .join(_connections, _connections.c.user == _users.c.id)
        .where(sa.and_(~_users.c.is_active, _connections.c.kind == "ldap"))
    )
    rows = op.get_bind().execute(asked).all()
    return {id: source for id, attributes, source in rows if _is_marked(attributes)}


def _is_marked(attributes: object) -> bool:
    return isinstance(attributes, dict) and "ldap_disabled" in attributes and "locked_down" not in attributes


def _by_services() -> dict[int, str]:
    asked = (
        sa.select(_users.c.id, _users.c.attributes, _connections.c.source)
        .join(_connections, _connections.c.user == _users.c.id)
        .join(_received, _received.c.id == _connections.c.connection_uuid)
        .where(sa.and_(~_users.c.is_active, _received.c.is_disabled))
    )
    rows = op.get_bind().execute(asked).all()
    return {id: source for id, attributes, source in rows if "locked_down" not in (attributes or {})}
