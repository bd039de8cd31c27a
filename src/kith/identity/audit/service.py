"""The audit trail: who did what, from where, with the values before and after. Secrets are masked."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, TypeGuard
from urllib.parse import parse_qsl

from kith.base.counted_log import log_counted
from kith.base.errors import Throttled
from kith.base.event_counts import count_event
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.work import Work
from kith.identity.audit import store
from kith.identity.audit.facts import EventRecorded
from kith.identity.audit.hidden_attributes import hidden_attributes, tells_attributes, without
from kith.identity.audit.tables import Event
from kith.identity.locations.address_facts import AddressFacts
from kith.identity.server_names import ServerNames

OF_STRANGERS = LimitRule("audit.strangers", most=120, seconds=300)
# What anybody can cause who asks for what is not theirs, as often as they like.
REFUSALS = frozenset({"permission_denied", "authorization_refused", "suspicious_request"})
OF_REFUSED = LimitRule("audit.refused", most=60, seconds=300)
MOST_IN_ARGUMENT, MOST_ARGUMENTS = 300, 50
MASK = "********************"
_SECRET = re.compile(r"api|token|key|secret|pass|signature|auth|cookie|code|assertion|link", re.IGNORECASE)
_HARMLESS = {
    "passing",
    "password_change_date",
    "password_changed_at",
    "auth_method",
    "auth_method_args",
    "revoke_tokens",
    "username_key",
    "token_uuid",
    "authorized_application",
}


async def record(
    work: Work,
    action: str,
    app: str,
    *,
    user_id: int | None = None,
    username: str = "",
    context: Mapping[str, Any] | None = None,
    known: Mapping[str, Any] | None = None,
    as_told: bool = False,
    of_stranger: bool = False,
) -> None:
    """Add an event to the transaction of what it tells, so that neither can be without the other.

    `known` is kept as it is, beside `context`: whoever made it knows its fields and has hidden their secrets.
    Whoever shows no name and no secret may cause so many events `of_stranger` in a while, and whoever is refused so
    many refusals; more are counted in the log.
    What is done through another person's eyes is written down as done by who is behind them, unless it is `as_told`.
    """
    origin = work.origin
    if not _is_heard(work, action, user_id, of_stranger=of_stranger):
        log_counted("info", "audit.left_out", action, address=origin.address)
        return
    context, known = dict(context or {}), dict(known or {})
    if tells_attributes(context) or tells_attributes(known):
        hidden = await hidden_attributes(work)
        context, known = without(context, hidden, MASK), without(known, hidden, MASK)
    told: dict[str, Any] = {**masked(context), **known, **_request_facts(work)}
    acting = origin.acting
    if acting is not None and not as_told:
        told["on_behalf_of"] = {"pk": acting.as_id, "username": acting.as_username}
        user_id, username = acting.id, acting.username
    event = Event(
        event_uuid=str(uuid.uuid4()),
        user_id=user_id,
        username=masked(username)[:150],
        action=action,
        app=app,
        context=told,
        client_ip=origin.address or None,
        created_at=work.now,
        expires_at=work.now + timedelta(days=work.settings.events_days),
    )
    await store.insert(work.db, event)
    count_event(action)
    if not origin.is_notifying:
        work.announce(EventRecorded(event_uuid=event.event_uuid, action=action))
    work.log(
        "audit",
        action=action,
        app=app,
        user=user_id,
        username=event.username,
        client_ip=event.client_ip,
        event_uuid=event.event_uuid,
        context=told,
    )


def _request_facts(work: Work) -> dict[str, Any]:
    """The request that led to an event, the brand that it asked, and the place of its address."""
    origin, told = work.origin, dict[str, Any]()
    if origin.method:
        told["http_request"] = {
            "path": origin.path,
            "method": origin.method,
            "args": _arguments(origin.query),
            "user_agent": origin.user_agent,
            "request_id": origin.request_id,
        }
    brand = work.find(ServerNames).facts(origin.host) if origin.host else None  # type: ignore[type-abstract]
    if brand is not None:
        told["brand"] = brand
    if origin.address:
        told |= work.find(AddressFacts).facts(origin.address)  # type: ignore[type-abstract]
    return told


def _is_heard(work: Work, action: str, user_id: int | None, *, of_stranger: bool) -> bool:
    """Whether what somebody does in this way, from this address or under this name, is written down once more."""
    by_address = address_key(work.origin.address)
    try:
        if of_stranger:
            work.find(Limiter).spend(OF_STRANGERS, f"{action} {by_address}")
        elif action in REFUSALS and work.origin.address:
            work.find(Limiter).spend(OF_REFUSED, f"{action} {by_address if user_id is None else user_id}")
    except Throttled:
        return False
    return True


def _arguments(query: str) -> Any:
    """The parameters of the query; a client that runs a flow sends those of its page in `query`."""
    given = dict(parse_qsl(query, keep_blank_values=True))
    found = given | dict(parse_qsl(given.pop("query", ""), keep_blank_values=True))
    return masked({name[:100]: value[:MOST_IN_ARGUMENT] for name, value in list(found.items())[:MOST_ARGUMENTS]})


def masked(value: Any, name: str = "") -> Any:
    """A copy as plain JSON in which everything with the name of a secret is masked."""
    if name and name not in _HARMLESS and _SECRET.search(name) and value is not None:
        return {side: one and MASK for side, one in value.items()} if _is_difference(value) else MASK
    if isinstance(value, Mapping):
        return {str(key): masked(item, str(key)) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [masked(item) for item in value]
    if isinstance(value, str):
        return value.replace("\x00", "")
    if isinstance(value, datetime):
        return value.isoformat()
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return str(value)


def fingerprint(secret: str) -> str:
    """What stands for a secret in the trail, so that events of the same one can be told; nobody can use it."""
    return hashlib.sha256(secret.encode()).hexdigest()[:32]


def _is_difference(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping) and set(value) == {"previous_value", "new_value"}


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The changed fields with both values; of a secret only that it changed."""
    return {
        name: {"previous_value": masked(before.get(name), name), "new_value": masked(value, name)}
        for name, value in after.items()
        if before.get(name) != value
    }
