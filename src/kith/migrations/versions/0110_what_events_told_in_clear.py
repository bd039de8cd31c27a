"""Events tell neither texts that may hold secrets nor attributes: what they told of them before is masked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from kith.base.db import UID

revision = "0110"
down_revision = "0109"

AT_ONCE = 500
MASK = "********************"
_WEBHOOKS = ("create_webhook", "update_webhook", "rotate_secret_webhook", "destroy_webhook")
_TELLING = ("model_created", "model_updated", "user_write", "property_mapping_exception", *_WEBHOOKS)
_PRIVATE = (
    "attributes", "content", "context", "expression", "fixed_data", "initial_value", "placeholder", "webhook_url",
)  # fmt: skip

_events = sa.table(
    "identity_events",
    sa.column("event_uuid", UID()),
    sa.column("action", sa.String()),
    sa.column("context", sa.JSON().with_variant(postgresql.JSONB(), "postgresql")),
)


def upgrade() -> None:
    connection = op.get_bind()
    last: str | None = None
    while True:
        some = sa.select(_events.c.event_uuid, _events.c.action, _events.c.context).where(
            _events.c.action.in_(_TELLING)
        )
        if last is not None:
            some = some.where(_events.c.event_uuid > last)
        rows = connection.execute(some.order_by(_events.c.event_uuid).limit(AT_ONCE)).all()
        for id, action, context in rows:
            masked = _masked(action, context)
            if masked != context:
                connection.execute(_events.update().where(_events.c.event_uuid == id).values(context=masked))
        if len(rows) < AT_ONCE:
            return
        last = rows[-1][0]


def _masked(action: str, context: Any) -> Any:
    """What was made, what was changed and, of a mapping that failed, its text; of a webhook its address."""
    if not isinstance(context, Mapping):
        return context
    found = dict(context)
    if isinstance(made := found.get("created"), Mapping):
        found["created"] = {name: _hidden(one) if name in _PRIVATE else one for name, one in made.items()}
    if isinstance(changed := found.get("diff"), Mapping):
        found["diff"] = {name: _both(one) if name in _PRIVATE else one for name, one in changed.items()}
    for name in ("expression", *(("url",) if action in _WEBHOOKS else ())):
        if found.get(name):
            found[name] = MASK
    return found


def _both(sides: Any) -> Any:
    return {side: _hidden(one) for side, one in sides.items()} if isinstance(sides, Mapping) else _hidden(sides)


def _hidden(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: MASK if one else one for name, one in value.items()}
    return MASK if value else value
