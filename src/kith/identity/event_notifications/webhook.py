"""Sending a notification to an address: its body and headers, the signature, and what the answer means."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from kith.base.http import Outgoing, OutgoingError
from kith.base.jobs import Give
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.event_notifications import message as messages
from kith.identity.event_notifications import store
from kith.identity.event_notifications.message import EventMessage
from kith.identity.event_notifications.transports import SLACK, NotificationTransportRecord, transports
from kith.identity.expressions import subjects
from kith.identity.expressions.run import ExpressionObject
from kith.identity.mappings import service as mappings

SECONDS = 15.0
MOST_BYTES = 256 * 1024
MOST_HEADERS = 20
LONGEST_PAUSE = 6 * 3600
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VALUE = re.compile(r"[\x20-\x7e]{0,4000}")
_OURS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect",
     "x-hub-signature", "x-kith-notification"}
)  # fmt: skip
SECRET_PLACE = f"{transports.name}.webhook_secret"


class NotSent(Exception):  # noqa: N818 - what it is
    """It was not taken; it may be later."""


class CannotBeSent(Exception):  # noqa: N818 - what it is
    """What a mapping makes cannot be sent at all."""


async def send(
    work: Work, transport: NotificationTransportRecord, sealed: str | None, message: EventMessage, user: int | None
) -> None:
    """One call. It never follows a redirect, and never goes into this server's own network."""
    body = await _body(work, transport, message, user)
    headers = {"Content-Type": "application/json", **await _headers(work, transport, message, user)}
    headers["X-Kith-Notification"] = message.id  # the same when it is sent again
    if sealed is not None and (secret := work.find(Sealer).open(sealed, SECRET_PLACE)):
        headers["X-Hub-Signature"] = f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"
    try:
        answer = await work.find(Outgoing).request(
            "POST",
            transport.webhook_url,
            headers=headers,
            body=body,
            max_bytes=64 * 1024,
            max_redirects=None,
            timeout=SECONDS,
        )
    except OutgoingError as error:
        raise NotSent(f"{transport.name}: {error}") from error
    _judge(transport.name, answer.status, answer.headers.get("Retry-After", ""))


def _judge(name: str, status: int, retry_after: str) -> None:
    words = f"{name}: the receiver answered {status}"
    if status == 410:
        raise Give.up(words)
    if status in (429, 503) and retry_after.isascii() and retry_after.isdigit() and len(retry_after) < 9:
        raise Give(words, later=timedelta(seconds=min(max(int(retry_after), 1), LONGEST_PAUSE)))
    if not 200 <= status < 300:
        raise NotSent(words)


async def _body(work: Work, transport: NotificationTransportRecord, message: EventMessage, user: int | None) -> bytes:
    if transport.webhook_mapping_body is not None:
        made = await _evaluate(work, transport.webhook_mapping_body, message, user)
    elif transport.mode == SLACK:
        made = messages.slack_body(message, work.settings.title)
    else:
        made = messages.webhook_body(message)
    try:
        body = msgspec.json.encode(made, enc_hook=str)
    except (TypeError, ValueError, RecursionError) as error:
        raise CannotBeSent(f"{transport.name}: the body cannot be written as JSON") from error
    if len(body) > MOST_BYTES:
        raise CannotBeSent(f"{transport.name}: the body has more than {MOST_BYTES} bytes")
    return body


async def _headers(
    work: Work, transport: NotificationTransportRecord, message: EventMessage, user: int | None
) -> dict[str, str]:
    if transport.webhook_mapping_headers is None:
        return {}
    made = await _evaluate(work, transport.webhook_mapping_headers, message, user)
    return read_headers(made)


def read_headers(made: Any) -> dict[str, str]:
    """The headers of a mapping; `CannotBeSent` for what is no header, or is not a mapping's to say."""
    if not isinstance(made, Mapping) or len(made) > MOST_HEADERS:
        raise CannotBeSent(f"The headers must be an object of no more than {MOST_HEADERS} of them.")
    found = {str(name): str(value) for name, value in made.items()}
    for name, value in found.items():
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value) or name.lower() in _OURS:
            raise CannotBeSent(f"The header {name[:100]!r} cannot be sent.")
    return found


async def _evaluate(work: Work, mapping: str, message: EventMessage, user: int | None) -> Any:
    found = await store.find_expression(work.db, mapping)
    if found is None:
        raise CannotBeSent("The mapping is gone.")
    name, expression = found
    person = await subjects.find(work, user) if user is not None else None
    given = {"notification": ExpressionObject(**messages.webhook_body(message))}
    outcome = await mappings.evaluate(work, expression, person, given)
    if outcome.error is not None:
        async with work.aside() as aside:
            context = {"mapping": name, "message": outcome.error}
            await audit.record(aside, "property_mapping_exception", "events.transports", context=context)
        raise CannotBeSent(f"The mapping {name} failed: {outcome.error}")
    return outcome.value
