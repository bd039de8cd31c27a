"""The streaming API: Server-Sent Events, one path per stream, and a WebSocket for several streams at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any
from urllib.parse import urlsplit

from kith.base.errors import Malformed, NotFound, Problem
from kith.base.exchange import Answer, Exchange, whole
from kith.base.params import Loose
from kith.base.routing import FromPath, FromQuery, Provided, Route, get, socket, stream
from kith.base.socket import TheSocket
from kith.social.guards import anyone
from kith.social.streaming import sockets
from kith.social.streaming.channels import Stream
from kith.social.streaming.connections import Listener, StreamConnection
from kith.social.streaming.entry import NOTIFICATIONS, STATUSES, let_in, listens, prepare, stream_of
from kith.social.streaming.events import HELLO
from kith.social.streaming.hub import Hub
from kith.social.streaming.keeping import Streaming

UNKNOWN_PATH = "Unknown channel requested"
NOT_FOUND = "Not found"
_HEADERS = ((b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no"))


def _hub(exchange: Exchange) -> Hub:
    return exchange.find(Streaming).hub


TheHub = Annotated[Hub, Provided(_hub)]
TheListener = Annotated[Listener, Provided(lambda exchange: exchange.kept[Listener])]


class StreamQuery(Loose, kw_only=True):
    only_media: bool = False
    tag: str = ""
    list: str = ""


def _reserve(exchange: Exchange, hub: Hub, listener: Listener) -> None:
    """A place, until the exchange is over."""

    async def release() -> None:
        hub.release(listener)

    hub.reserve(listener)
    exchange.at_end(release)


# Event streams


def _events(path: str, name: str, *, scope: str = STATUSES) -> Route:
    @stream(f"/api/v1/streaming/{path}", guards=[listens(scope)])
    async def listen(exchange: Exchange, hub: TheHub, listener: TheListener, asked: FromQuery[StreamQuery]) -> Answer:
        """Events for as long as somebody listens."""
        is_media = asked.only_media and name.startswith("public")
        wanted = stream_of({"stream": f"{name}:media" if is_media else name, "tag": asked.tag, "list": asked.list})
        channels = await prepare(exchange.work, listener, wanted)
        _reserve(exchange, hub, listener)
        return Answer(200, _HEADERS, pieces=_pieces(exchange, hub, listener, wanted, channels))

    return listen


async def _pieces(
    exchange: Exchange, hub: Hub, listener: Listener, wanted: Stream, channels: tuple[str, ...]
) -> AsyncIterator[bytes]:
    """The greeting; then the hub writes, and this waits for the end."""
    yield HELLO
    exchange.pipe.stay()
    connection = StreamConnection(listener, exchange.pipe, is_socket=False)
    hub.join(connection)
    try:
        hub.subscribe(connection, wanted, channels)
        await exchange.until_left()
    finally:
        hub.leave(connection)


# Sockets


@socket("/api/v1/streaming")
async def open_socket(exchange: Exchange, hub: TheHub, socket: TheSocket) -> None:
    """The first stream may be named in the address; what is wrong with it is said through the socket."""
    offered = socket.subprotocols[0] if socket.subprotocols else ""
    listener = await let_in(exchange, offered=offered)
    _reserve(exchange, hub, listener)
    wanted, channels, refusal = await _first(exchange, listener)
    await socket.accept(offered, most=sockets.MOST_BYTES)
    connection = StreamConnection(listener, exchange.pipe, is_socket=True)
    hub.join(connection)
    try:
        if wanted is not None:
            hub.subscribe(connection, wanted, channels)
        if refusal:
            connection.say(refusal)
        await sockets.talk(hub, exchange.server.works, connection, socket)
    finally:
        hub.leave(connection)


async def _first(exchange: Exchange, listener: Listener) -> tuple[Stream | None, tuple[str, ...], bytes]:
    asked: dict[str, Any] = {name: exchange.query(name) for name in ("stream", "tag", "list")}
    if not asked["stream"]:
        return None, (), b""
    try:
        wanted = stream_of(asked)
        return wanted, await prepare(exchange.work, listener, wanted), b""
    except Problem as problem:
        return None, (), sockets.refusal_of(problem)


@get("/api/v1/streaming", guards=[anyone])
async def point_elsewhere(exchange: Exchange) -> Answer:
    """To where streams are, if that is another address; here this is a WebSocket."""
    elsewhere = exchange.server.works.settings.streaming_url
    if not elsewhere or urlsplit(elsewhere).netloc == exchange.header(b"host").decode("latin-1"):
        raise NotFound(NOT_FOUND)
    query = exchange.query_string.decode("latin-1")
    target = f"{elsewhere}{exchange.scope['raw_path'].decode('latin-1')}{'?' if query else ''}{query}"
    return whole(b"", "text/plain", status=301, headers=((b"location", target.encode("latin-1")),))


@get("/api/v1/streaming/health")
async def tell_health() -> Answer:
    return whole(b"OK", "text/plain; charset=utf-8", headers=((b"cache-control", b"private, no-store"),))


@get("/api/v1/streaming/{path:path}", guards=[anyone])
async def refuse_unknown(path: FromPath[str]) -> None:  # noqa: ARG001
    raise Malformed(UNKNOWN_PATH)


routes = [
    open_socket,
    point_elsewhere,
    tell_health,
    _events("user", "user"),
    _events("user/notification", "user:notification", scope=NOTIFICATIONS),
    _events("public", "public"),
    _events("public/local", "public:local"),
    _events("public/remote", "public:remote"),
    _events("hashtag", "hashtag"),
    _events("hashtag/local", "hashtag:local"),
    _events("list", "list"),
    _events("direct", "direct"),
    refuse_unknown,
]
