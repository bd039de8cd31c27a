"""One open connection of somebody who listens: an event stream, or a socket with several streams."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from kith.base.pipe import Pipe
from kith.base.server.wire import chunk, text_frame
from kith.social.ids import AccountId, UserId
from kith.social.streaming.channels import Stream
from kith.social.streaming.events import THUMP, StreamEvent

__all__ = ["EVERY_STREAM", "Listener", "StreamConnection", "StreamSubscription", "Streams"]

MOST_UNREAD = 128 * 1024  # bytes, of what a client has not read; or one event, where that is longer
_THUMP = chunk(THUMP)


class Listener(msgspec.Struct, frozen=True):
    """Whoever listens, and by what right."""

    account_id: AccountId
    user_id: UserId
    key_hash: str
    scopes: str
    address: str
    grant_uuid: str | None = None
    session_uuid: str | None = None


class Streams(NamedTuple):
    """Those with a number in between: numbers are counted up as streams are opened."""

    after: int = 0
    upto: int = 1 << 63


EVERY_STREAM = Streams()


class StreamSubscription:
    """A stream of one connection."""

    __slots__ = ("channels", "connection", "label", "number", "viewer")

    def __init__(self, connection: StreamConnection, stream: Stream, channels: tuple[str, ...], number: int) -> None:
        self.number = number
        self.connection = connection
        self.label = stream.label()
        self.viewer = connection.listener.account_id
        self.channels = channels


class StreamConnection:
    __slots__ = ("beat", "is_open", "is_socket", "listener", "longest", "pipe", "session_uuid", "subscriptions")

    def __init__(self, listener: Listener, pipe: Pipe, *, is_socket: bool) -> None:
        self.listener = listener
        self.session_uuid = listener.session_uuid
        self.pipe = pipe
        self.is_socket = is_socket
        self.is_open = True
        self.longest = 0  # of the events that are on their way
        self.beat = 0  # in which of the seconds between two heartbeats its own is
        self.subscriptions: dict[Stream, StreamSubscription] = {}

    def is_slow(self) -> bool:
        return self.pipe.unread > max(MOST_UNREAD, self.longest)

    def deliver(self, event: StreamEvent, label: bytes) -> None:
        data = event.frame(label) if self.is_socket else event.chunk() if self.pipe.is_chunked else event.text()
        self.longest = max(len(data), self.longest if self.pipe.unread else 0)
        self.pipe.push(data)

    def say(self, text: bytes) -> None:
        """An answer to what was asked of a socket."""
        self.pipe.push(text_frame(text))

    def thump(self) -> None:
        """Sockets have pings of their own."""
        if not self.is_socket:
            self.pipe.push(_THUMP if self.pipe.is_chunked else THUMP)
