from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Boolean, Column, Index, Table, Text, UniqueConstraint

from kith.base.db import ID, METADATA, Instant

emojis = Table(
    "social_emojis",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("shortcode", Text, nullable=False),
    Column("domain", Text, nullable=False),
    Column("file", Text, nullable=False),
    Column("static_file", Text, nullable=False),
    Column("category", Text),
    Column("visible_in_picker", Boolean, nullable=False),
    Column("disabled", Boolean, nullable=False),
    Column("uri", Text),
    Column("updated_at", Instant, nullable=False),
    UniqueConstraint("shortcode", "domain"),
    Index("ix_social_emojis_domain", "domain", "id"),
)


class Emoji(msgspec.Struct):
    id: int
    shortcode: str
    domain: str
    file: str
    static_file: str
    category: str | None
    visible_in_picker: bool
    disabled: bool
    uri: str | None
    updated_at: datetime

    @property
    def is_shown(self) -> bool:
        return self.visible_in_picker and not self.disabled
