"""Who listens to what in this process, and how an event gets to all of them.

Nobody waits here: an event's bytes are handed to each connection at once. Whoever does not read them is dropped when
too many wait, and told to come again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from kith.base.errors import Throttled
from kith.base.limits import address_key
from kith.base.metrics import STREAM_EVENTS, STREAMS, STREAMS_ENDED
from kith.base.settings import Settings
from kith.social.ids import AccountId
from kith.social.streaming.channels import Stream
from kith.social.streaming.connections import EVERY_STREAM, Listener, StreamConnection, Streams, StreamSubscription
from kith.social.streaming.events import StreamEvent

__all__ = ["BEATS", "Hub", "StreamDelivery"]

BEATS = 15  # seconds between two heartbeats of one stream
AT_ONCE = 200  # deliveries, before others have their turn
TRY_AGAIN = 1013
NOBODY: frozenset[AccountId] = frozenset()


class StreamDelivery(NamedTuple):
    """An event for some of the streams of some channels."""

    event: StreamEvent
    channels: Sequence[str]
    streams: Streams = EVERY_STREAM


class Hub:
    def __init__(self, settings: Settings) -> None:
        self._per_person = settings.max_streams_per_person if settings.rate_limits else 0
        self._per_address = settings.max_streams_per_address if settings.rate_limits else 0
        self.connections: set[StreamConnection] = set()
        self._channels: dict[str, dict[StreamSubscription, None]] = {}
        self._persons: Counter[AccountId] = Counter()
        self._addresses: Counter[str] = Counter()
        self.homes: dict[int, str] = {}  # the accounts whose homes anybody listens to, and their channels
        self.lists: dict[int, str] = {}
        self.newest = 0  # the number of the stream that was opened last
        self._joined = 0
        self._delivered: Counter[str] = Counter()
        self.on_join: Callable[[StreamConnection], None] = lambda _: None

    # Who is here

    def reserve(self, listener: Listener) -> None:
        """Count one more for a person and an address; raises where one of them has as many as they may."""
        address = address_key(listener.address)
        if self._per_person and self._persons[listener.account_id] >= self._per_person:
            raise Throttled(30)
        if self._per_address and self._addresses[address] >= self._per_address:
            raise Throttled(30)
        self._persons[listener.account_id] += 1
        self._addresses[address] += 1

    def release(self, listener: Listener) -> None:
        address = address_key(listener.address)
        self._persons[listener.account_id] -= 1
        self._addresses[address] -= 1
        if not self._persons[listener.account_id]:
            del self._persons[listener.account_id]
        if not self._addresses[address]:
            del self._addresses[address]

    def is_listening(self, account_id: AccountId) -> bool:
        """Whether somebody has a stream open in this process."""
        return account_id in self._persons

    def join(self, connection: StreamConnection) -> None:
        self._joined += 1
        connection.beat = self._joined % BEATS
        self.connections.add(connection)
        STREAMS.inc()
        self.on_join(connection)

    def leave(self, connection: StreamConnection) -> None:
        """Nothing more is sent; may be said twice."""
        if connection not in self.connections:
            return
        connection.is_open = False
        self.connections.discard(connection)
        for stream in list(connection.subscriptions):
            self.unsubscribe(connection, stream)
        STREAMS.dec()

    def close(self, connection: StreamConnection, code: int, reason: str) -> None:
        """End it from our side."""
        if connection.is_open:
            self.leave(connection)
            STREAMS_ENDED.labels(reason).inc()
            connection.pipe.stop(code, reason)

    # What they listen to

    def subscribe(self, connection: StreamConnection, stream: Stream, channels: tuple[str, ...]) -> None:
        if stream in connection.subscriptions or not connection.is_open:
            return
        self.newest += 1
        subscription = StreamSubscription(connection, stream, channels, self.newest)
        connection.subscriptions[stream] = subscription
        for channel in channels:
            if channel not in self._channels:
                self._channels[channel] = {}
                self._note(channel, is_heard=True)
            self._channels[channel][subscription] = None

    def unsubscribe(self, connection: StreamConnection, stream: Stream) -> None:
        subscription = connection.subscriptions.pop(stream, None)
        if subscription is None:
            return
        for channel in subscription.channels:
            subscribed = self._channels[channel]
            subscribed.pop(subscription, None)
            if not subscribed:
                del self._channels[channel]
                self._note(channel, is_heard=False)

    def _note(self, channel: str, *, is_heard: bool) -> None:
        kind, _, id = channel.partition(":")
        noted = self.homes if kind == "user" else self.lists if kind == "list" else None
        if noted is not None and is_heard:
            noted[int(id)] = channel
        elif noted is not None:
            noted.pop(int(id), None)

    def is_heard(self, channel: str) -> bool:
        return channel in self._channels

    def heard(self, channels: Iterable[str]) -> list[str]:
        """Those of them that anybody listens to."""
        return [channel for channel in channels if channel in self._channels]

    def viewers(self, channels: Iterable[str]) -> set[AccountId]:
        """Whoever listens to one of them."""
        return {one.viewer for channel in channels for one in self._channels.get(channel, ())}

    # Telling them

    async def publish(
        self,
        channel: str,
        event: StreamEvent,
        *,
        hidden_from: Collection[AccountId] = NOBODY,
        only: AccountId | None = None,
    ) -> None:
        """Hand an event to all who listen to a channel of this process, but those from whom it is hidden.

        `only`: to one viewer alone.
        """
        heard = [
            one
            for one in self._channels.get(channel, ())
            if one.viewer not in hidden_from and only in (None, one.viewer)
        ]
        await self._hand(event, heard)

    async def publish_each(self, deliveries: Iterable[StreamDelivery]) -> None:
        """The same for many channels."""
        for event, channels, (after, upto) in deliveries:
            subscribed = (self._channels.get(channel, ()) for channel in channels)
            await self._hand(event, [one for of in subscribed for one in of if after < one.number <= upto])

    async def _hand(self, event: StreamEvent, heard: Sequence[StreamSubscription]) -> None:
        for start in range(0, len(heard), AT_ONCE):
            for one in heard[start : start + AT_ONCE]:
                connection = one.connection
                if connection.is_slow():
                    self.close(connection, TRY_AGAIN, "slow reader")
                elif connection.is_open:
                    connection.deliver(event, one.label)
            await asyncio.sleep(0)
        self._delivered[event.name] += len(heard)

    def thump(self, beat: int) -> None:
        """A heartbeat to those whose turn it is; and what was delivered is told to whoever watches the server."""
        delivered, self._delivered = self._delivered, Counter()
        for name, count in delivered.items():
            STREAM_EVENTS.labels(name).inc(count)
        for connection in list(self.connections):
            if connection.beat == beat:
                if connection.is_slow():
                    self.close(connection, TRY_AGAIN, "slow reader")
                else:
                    connection.thump()
