"""Emoji are found by the server they came from: they are counted, and forgotten a stretch at a time."""

from __future__ import annotations

from alembic import op

revision = "0113"
down_revision = "0112"


def upgrade() -> None:
    op.create_index("ix_social_emojis_domain", "social_emojis", ["domain", "id"])
