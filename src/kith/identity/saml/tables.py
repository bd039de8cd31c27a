"""What waits while a browser is elsewhere."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Column, ForeignKey, Integer, String, Table

from kith.base.db import METADATA, Document, Instant

# Messages that wait while somebody signs in, runs a flow or is signed out; each is known by a key.
saml_requests = Table(
    "identity_saml_requests",
    METADATA,
    Column("request_hash", String(64), primary_key=True),
    Column("kind", String(20), nullable=False),
    Column("provider_id", Integer, ForeignKey("identity_providers.id", ondelete="CASCADE"), index=True),
    Column("content", Document, nullable=False),
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), index=True),
    Column("proof_hash", String(64)),
    Column("expires_at", Instant, nullable=False, index=True),
)


class StoredRequest(msgspec.Struct):
    """`kind`: `sign_on` for a request to enter, `logout` for one to leave, `signing_out` for a sign-out under way,
    `frame` for a page inside one of its frames, `arrival` for somebody who comes from a source.

    `proof_hash` is of the proof that the end of the authorization flow reveals.
    """

    request_hash: str
    kind: str
    provider_id: int | None
    content: dict[str, Any]
    user_id: int | None
    proof_hash: str | None
    expires_at: datetime
