"""How other rooms send something live: after the commit, to every open stream of every process.

    publish(work, of_user(me), "filters_changed")
    publish(work, of_direct(me), "conversation", conversation)
    publish(work, EVERYBODY, "announcement", announcement)
    publish(work, of_token(key_hash), "encrypted_message", message)

The same bytes go to everyone who listens; what depends on the viewer is published on the viewer's own channel.
Posts, edits, deletions, boosts and notifications need no call: they are heard of as facts (`carrying`).
"""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.work import Work
from kith.social.streaming.channels import EVERYBODY, of_direct, of_list, of_notifications, of_token, of_user
from kith.social.streaming.facts import Published

__all__ = ["EVERYBODY", "of_direct", "of_list", "of_notifications", "of_token", "of_user", "publish"]

_encode = msgspec.json.Encoder().encode


def publish(work: Work, channel: str, event: str, payload: Any = None) -> None:
    """`payload` is an entity (rendered already, as bytes, or a value to be encoded), a bare id as text, or nothing."""
    work.announce(Published(channel=channel, event=event, payload=_line(payload)))


def _line(payload: Any) -> str | None:
    if payload is None or isinstance(payload, str):
        return payload
    return payload.decode() if isinstance(payload, bytes) else _encode(payload).decode()
