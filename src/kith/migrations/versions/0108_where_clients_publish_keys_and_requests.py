"""Where clients of providers publish their keys and their requests."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0108"
down_revision = "0107"


def upgrade() -> None:
    for kind in ("oauth", "openid"):
        for name in ("jwks_uri", "request_uris"):
            op.add_column(f"identity_providers_{kind}", sa.Column(name, sa.Text(), nullable=False, server_default=""))
