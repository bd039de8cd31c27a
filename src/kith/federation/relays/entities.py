from __future__ import annotations

from typing import Any

from kith.federation.relays.tables import FederationRelay
from kith.social.moments import maybe, moment

__all__ = ["render_relay"]


def render_relay(row: FederationRelay) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "inbox_url": row.inbox,
        "state": row.state,
        "created_at": moment(row.created_at),
        "answered_at": maybe(row.answered_at),
    }
