from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    FromClause,
    Index,
    Integer,
    SmallInteger,
    String,
    Table,
    Text,
    and_,
    text,
)

from kith.base.db import METADATA, UID, Document, Instant, index_of_some, not_over
from kith.base.ids import UserId

LOCKED = "locked_down"  # an attribute: since when everything of this person has ended

# What few people are, so that they are found at once among very many.
WAITING, UNCONFIRMED, DISABLED = text("approved_at IS NULL"), text("confirmed_at IS NULL"), text("NOT is_active")
# Who counts as a member until they are past their end; written out, so that they are counted in their index alone.
MEMBERS = text("is_active AND type = 'internal' AND confirmed_at IS NOT NULL AND approved_at IS NOT NULL")

users = Table(
    "identity_users",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("uuid", UID, nullable=False, unique=True),
    Column("username", String(150), nullable=False),
    Column("username_key", String(300), nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("email", String(254), nullable=False),
    Column("email_key", String(254), nullable=False),
    Column("password", Text),
    Column("is_active", Boolean, nullable=False),
    Column("role", String(20), nullable=False),
    Column("type", String(30), nullable=False),
    Column("path", Text, nullable=False),
    Column("attributes", Document, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("last_login_at", Instant),
    Column("password_changed_at", Instant),
    Column("confirmed_at", Instant),
    Column("approved_at", Instant),
    # The address if it belongs to this person: confirmed, or claimed where addresses are not confirmed.
    Column("owned_email_key", String(254)),
    Column("email_verified_at", Instant),
    Column("expires", Instant),  # from then on they are disabled
    Column("last_seen_at", Instant),  # when they last signed in or used an app, the latter to the day
    Column("subject", String(64)),  # `sub` by which clients of the server they came from know them
    Column("disabled_at", Instant),  # when somebody last disabled them; stays when they are enabled again
    Column("disabled_by", UID),  # the source that has disabled them, which may enable them again; staff are none
    Index("ix_identity_users_owned_email_key", "owned_email_key", unique=True),
    Index("ix_identity_users_email_key", "email_key"),
    Index("ix_identity_users_username", "username", "id"),
    Index("ix_identity_users_name", "name", "id"),
    Index("ix_identity_users_email", "email", "id"),
    Index("ix_identity_users_created_at", "created_at", "id"),
    Index("ix_identity_users_last_seen_at", "last_seen_at", "id"),
    Index("ix_identity_users_role", "role"),
    *(
        Index(f"ix_identity_users_{name}", "id", sqlite_where=where, postgresql_where=where)
        for name, where in (("waiting", WAITING), ("unconfirmed", UNCONFIRMED), ("disabled", DISABLED))
    ),
    index_of_some("identity_users", "expires"),
    Index("ix_identity_users_members", "id", "expires", sqlite_where=MEMBERS, postgresql_where=MEMBERS),
    sqlite_autoincrement=True,
)

# What people were called who are gone, or who are called otherwise now: SHA-256 of the normal form.
former_names = Table(
    "identity_former_names",
    METADATA,
    Column("name_hash", String(64), primary_key=True),
    Column("user_id", Integer, nullable=False),  # who was, 0 where it is not known; they may take it again
)

setup = Table(
    "identity_setup",
    METADATA,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("token_hash", String(64), nullable=False),
    Column("made_at", Instant, nullable=False),
    Column("used_at", Instant),
)


def is_active(people: FromClause = users) -> ColumnElement[bool]:
    """Whether somebody is neither disabled nor past the end that was set for them.

    `people` is the table, or an alias of it.
    """
    return and_(people.c.is_active, not_over(people.c.expires))


def uid_of(uuid: str) -> str:
    """It tells nothing else, and depends on nothing that can be replaced: applications find people by it for years."""
    return hashlib.sha256(uuid.encode()).hexdigest()


class User(msgspec.Struct):
    """A person's record. Whoever is past the end that was set for them is read as disabled."""

    id: UserId
    uuid: str
    username: str
    username_key: str
    name: str
    email: str
    email_key: str
    password: str | None
    is_active: bool
    role: str
    type: str
    path: str
    attributes: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    last_login_at: datetime | None
    password_changed_at: datetime | None
    confirmed_at: datetime | None
    approved_at: datetime | None
    owned_email_key: str | None = None
    email_verified_at: datetime | None = None
    expires: datetime | None = None
    last_seen_at: datetime | None = None
    subject: str | None = None
    disabled_at: datetime | None = None
    disabled_by: str | None = None

    def __post_init__(self) -> None:
        if self.expires is not None and self.expires <= datetime.now(UTC):
            self.is_active = False

    @property
    def uid(self) -> str:
        """The one name by which applications know them, whatever they speak: `sub`, NameID, `X-Kith-Uid`, `uid`."""
        return self.subject or uid_of(self.uuid)

    @property
    def awaits_link(self) -> bool:
        """Whether they were made inactive until they open the link of their enrolment, and nobody has disabled them."""
        return not self.is_active and self.disabled_at is None

    @property
    def guards(self) -> tuple[object, ...]:
        """What guards their account, as far as it is theirs alone: after a change, nothing of before counts."""
        locked = self.attributes.get(LOCKED)
        password = (self.password_changed_at, self.password is None)
        return (*password, self.email_key, self.owned_email_key, self.is_active, self.disabled_at, locked)

    @property
    def owns_email(self) -> bool:
        """Whether the address belongs to this person: for signing in, for recovery, and for claims."""
        return bool(self.email) and self.owned_email_key is not None

    @property
    def is_email_verified(self) -> bool:
        """Whether the address is confirmed: by a link, or by staff who set it."""
        return self.owns_email and self.email_verified_at is not None

    @property
    def locale(self) -> str:
        """The language the person has chosen, or an empty text."""
        return self._chosen("locale")

    @property
    def timezone(self) -> str:
        """The time zone the person has chosen, or an empty text."""
        return self._chosen("timezone")

    def _chosen(self, name: str) -> str:
        settings = self.attributes.get("settings")
        chosen = settings.get(name) if isinstance(settings, dict) else None
        return chosen if isinstance(chosen, str) else ""

    @property
    def counted_email(self) -> str:
        """The address if it belongs to this person, else an empty text."""
        return self.email if self.owns_email else ""
