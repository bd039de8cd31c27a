"""What a notification says, in the form that each way of sending needs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from kith import __version__
from kith.identity.audit.tables import Event

MOST_CHARACTERS = 2000
MOST_MESSAGE = 500
_COLOURS = {"notice": "#3366cc", "warning": "#e6a700", "alert": "#cc3333"}


class EventMessage(msgspec.Struct, kw_only=True):
    """One notification on its way to somebody (`user...` are empty where it is for nobody in particular)."""

    id: str
    rule: str
    severity: str
    body: str
    created: datetime
    count: int = 1
    event: dict[str, Any] | None = None
    user_email: str = ""
    user_username: str = ""
    event_user_username: str = ""


def as_given(event: Event) -> dict[str, Any]:
    """An event as policies, mappings and receivers are given it."""
    return {
        "pk": event.event_uuid,
        "user": event.user_id,
        "username": event.username,
        "action": event.action,
        "app": event.app,
        "context": event.context,
        "client_ip": event.client_ip,
        "created": event.created_at.isoformat(),
    }


def describe(event: Event, *, count: int = 1, since: datetime | None = None) -> str:
    """What happened, in a few lines: the event itself, who did it, and how often."""
    lines = [_headline(event)]
    by = f"By {event.username}" if event.username else "By nobody who is known"
    address = f" from {event.client_ip}" if event.client_ip else ""
    lines.append(f"{by}{address} at {_moment(event.created_at)}.")
    if count > 1 and since is not None:
        lines.append(f"This stands for {count} events since {_moment(since)}; it is the last of them.")
    return "\n".join(lines)[:MOST_CHARACTERS]


def _headline(event: Event) -> str:
    words = event.action.replace("_", " ").capitalize()
    model, message = event.context.get("model"), event.context.get("message")
    if isinstance(message, str) and message:
        return f"{words}: {message[:MOST_MESSAGE]}"
    if isinstance(model, Mapping):
        return f"{words}: {model.get('model_name')} {str(model.get('name'))[:MOST_MESSAGE]}"
    return f"{words} ({event.app})"


def _moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")


def webhook_body(message: EventMessage) -> dict[str, Any]:
    """What is sent where no mapping says otherwise."""
    return {
        "id": message.id,
        "rule": message.rule,
        "body": message.body,
        "severity": message.severity,
        "created": message.created.isoformat(),
        "count": message.count,
        "user_email": message.user_email,
        "user_username": message.user_username,
        "event_user_username": message.event_user_username,
        "event": message.event,
    }


def slack_body(message: EventMessage, title: str) -> dict[str, Any]:
    """For Slack and what understands the same, such as Mattermost and Discord. Names are no mentions there."""
    first, _, rest = (_escaped(line) for line in message.body.partition("\n"))
    fields = [{"title": "Severity", "value": message.severity, "short": True}]
    if message.user_username:
        fields.append({"title": "For", "value": _escaped(message.user_username), "short": True})
    if message.count > 1:
        fields.append({"title": "Events", "value": str(message.count), "short": True})
    attachment = {
        "author_name": title,
        "title": first,
        "text": rest,
        "fallback": first,
        "color": _COLOURS.get(message.severity, _COLOURS["notice"]),
        "fields": fields,
        "footer": f"Kith {__version__}",
        "ts": int(message.created.timestamp()),
    }
    return {"username": title, "attachments": [attachment]}


def _escaped(text: str) -> str:
    """Without it, `<!channel>` in somebody's name would call everybody."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
