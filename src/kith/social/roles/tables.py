from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Boolean, Column, Integer, String, Table, Text

from kith.base.db import ID, METADATA, Instant, Long
from kith.social.roles.permissions import ADMINISTRATOR, ALL, BITS

EVERYONE = -99

# The four that `base` names are shipped; `base` of the others says what their holders are to the identity half.
roles = Table(
    "social_roles",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("color", String(7), nullable=False),
    Column("position", Integer, nullable=False),
    Column("permissions", Long, nullable=False),
    Column("highlighted", Boolean, nullable=False),
    Column("base", String(20), nullable=False),
    Column("is_shipped", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
)


class Role(msgspec.Struct):
    """`permissions` are what the role itself grants; everybody has those of the role `everyone` besides."""

    id: int
    name: str
    color: str
    position: int
    permissions: int
    highlighted: bool
    base: str
    is_shipped: bool
    created_at: datetime
    updated_at: datetime

    def allows(self, *names: str) -> bool:
        """One of these is enough."""
        return bool(self.permissions & ADMINISTRATOR) or any(self.permissions & BITS[name] for name in names)

    @property
    def all_permissions(self) -> int:
        return ALL if self.permissions & ADMINISTRATOR else self.permissions


def base_for(permissions: int) -> str:
    """What somebody with a freely defined role is to the identity half."""
    if permissions & ADMINISTRATOR:
        return "administrator"
    return "moderator" if permissions & (BITS["manage_users"] | BITS["manage_reports"]) else "user"
