"""A connection that has become a WebSocket."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
from collections import deque
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from kith.base.counted_log import log_counted
from kith.base.server import wire
from kith.base.server.call import ClientGone, Request
from kith.base.server.frame_heads import FrameHeads

if TYPE_CHECKING:
    from kith.base.server.http import HttpConnection

__all__ = ["WebSocket", "is_websocket"]

Message = MutableMapping[str, Any]

MOST_MESSAGE = 1 << 20
MOST_HELD = 16  # messages the application has not taken yet
MOST_BYTES_HELD = 256 * 1024
MOST_AT_ONCE = 16  # frames of one socket that are read before others get their turn
LITTLE = 512  # bytes that are read at once, whoever else waits
FRAME_WEIGHT = 128  # what a frame costs beside its bytes, in bytes
FRAMES_A_SECOND, MOST_FRAMES = 20.0, 100  # of any kind; so many may come together
MOST_PARTS = 64  # frames of one message
TOO_MUCH = 1008  # RFC 6455: the reason is a policy
PING_SECONDS = 30.0
DEAF_SECONDS = 75.0
END_SECONDS = 5.0  # for a client to read what was written before the end, and to say goodbye
PONG = b"\x8a"
_SAID_ONCE = (b"upgrade", b"sec-websocket-version", b"sec-websocket-key")
_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def is_websocket(request: Request) -> bool:
    """A whole and right opening handshake (RFC 6455, section 4.2.1); anything less is an ordinary request."""
    try:
        key = base64.b64decode(request.header(b"sec-websocket-key"), validate=True)
    except binascii.Error:
        return False
    said_once = all(sum(key == name for key, _ in request.headers) == 1 for name in _SAID_ONCE)
    return (
        said_once
        and request.method == "GET"
        and request.version == "1.1"
        and request.header(b"upgrade").lower() == b"websocket"
        and request.header(b"sec-websocket-version") == b"13"
        and len(key) == 16
    )


class WebSocket:
    """Frames are the library's matter; this is what the application sees of them, and how long silence may last."""

    def __init__(self, connection: HttpConnection, request: Request, scope: dict[str, Any]) -> None:
        from websockets.protocol import Protocol, Side  # noqa: PLC0415 - loaded when first used

        self._connection = connection
        self._request = request
        self._frames = Protocol(Side.SERVER, max_size=MOST_MESSAGE)
        self._inbox: deque[Message] = deque([{"type": "websocket.connect"}])
        self._parts: list[bytes] = []
        self._is_text = False
        self._waiter: asyncio.Future[None] | None = None
        self._early = bytearray()
        self._state = "opening"  # then open, passed, refusing, closed
        self._pass: Callable[[bytes], None] | None = None  # who takes the bytes of a socket that is passed on
        self._heard_at = self._pinged_at = connection.register.now
        self._heads = FrameHeads()
        self._rest, self._rest_at = b"", 0  # not parsed yet
        self._bytes_held = 0  # in messages the application has not taken yet
        self._allowance, self._counted_at = float(MOST_FRAMES), connection.register.now  # frames that may come
        self._waits = False  # for its turn to read on
        self._is_held = self.is_still = self._is_deaf = False
        scope["subprotocols"] = _subprotocols(request)
        scope["extensions"] = {"websocket.http.response": {}, "kith.pipe": self, "kith.socket": self}
        self.task = connection.loop.create_task(self._run(scope))

    async def _run(self, scope: dict[str, Any]) -> None:
        try:
            await self._connection.server.app(scope, self.receive, self.send)
        except ClientGone:
            pass
        except Exception as error:  # noqa: BLE001 - one connection's fault is not the others'
            log_counted("error", "websocket.broken", error=error)
            self.end(1011)
        else:
            self.end(1000)

    # What the client sends

    @property
    def is_open(self) -> bool:
        """Whether it is the client's turn, as it is for as long as the application listens."""
        return self._state in ("open", "passed")

    def feed(self, data: bytes) -> None:
        self._heard_at = self._connection.register.now
        if self._state == "opening":
            self._early += data
            if len(self._early) > MOST_MESSAGE:
                self._connection.transport.abort()
            return
        if self._pass is not None:
            self._pass(data)
            return
        if self._is_deaf or self._state == "refusing":
            self._connection.ignore(data)
            return
        self._rest, self._rest_at = self._rest[self._rest_at :] + data, 0
        if not self._waits and (len(data) <= LITTLE or self._connection.server.reading_turns.may_read(LITTLE)):
            self._read()
        else:
            self._wait_for_turn()
        self.mind_reading()

    def _read(self) -> int:
        """A few of the frames that have come; what they weighed."""
        came, frames = 0, self._heads.count
        while self._rest_at < len(self._rest) and self._may_read() and self._heads.count - frames < MOST_AT_ONCE:
            before = self._heads.count
            end = self._heads.end_of_frame(self._rest, self._rest_at)
            if self._heads.count > before and not self._may_come():
                self._fail()
                break
            self._frames.receive_data(self._rest[self._rest_at : end])
            came, self._rest_at = came + end - self._rest_at, end
            for frame in self._frames.events_received():
                if self._state == "open":
                    self._take(frame)
        weight = (came >> 3) + (self._heads.count - frames) * FRAME_WEIGHT
        if self._rest_at >= len(self._rest):
            self._rest, self._rest_at = b"", 0
        self._flush()
        self._wait_for_turn()
        return weight

    def _may_read(self) -> bool:
        """Not while the application does not take what is there, nor while the client does not read what it is told."""
        is_full = len(self._inbox) > MOST_HELD or self._bytes_held > MOST_BYTES_HELD
        return not is_full and self._connection.drained is None

    def _may_come(self) -> bool:
        """Count one more frame; False if these are more than anybody who means well sends."""
        now = self._connection.register.now
        self._allowance = min(self._allowance + (now - self._counted_at) * FRAMES_A_SECOND, MOST_FRAMES) - 1
        self._counted_at = now
        return self._allowance >= 0

    def _fail(self, code: int = TOO_MUCH) -> None:
        """Say why, and read nothing of what follows."""
        self._frames.fail(code)
        self._is_deaf, self._rest, self._rest_at = True, b"", 0

    def _wait_for_turn(self) -> None:
        if self._rest and not self._waits and self._may_read():
            self._waits = True
            self._connection.server.reading_turns.wait(self._connection.client[0], self._read_on)

    def _read_on(self) -> int:
        self._waits = False
        if self._connection.is_gone or self._is_deaf:
            return 0
        weight = self._read()
        self.mind_reading()
        return weight

    def mind_reading(self) -> None:
        """Read from the client for as long as what it sends has a place."""
        self._wait_for_turn()
        is_still = self._is_held or (self._pass is None and (bool(self._rest) or not self._may_read()))
        transport = self._connection.transport
        if is_still != self.is_still and not transport.is_closing():
            self.is_still = is_still
            transport.pause_reading() if is_still else transport.resume_reading()

    def taken(self) -> None:
        """The client has read what it was told."""
        self._heard_at = self._connection.register.now
        self.mind_reading()

    def _take(self, frame: Any) -> None:
        from websockets.frames import Opcode  # noqa: PLC0415

        if frame.opcode in (Opcode.TEXT, Opcode.BINARY):
            self._is_text, self._parts = frame.opcode is Opcode.TEXT, []
        elif frame.opcode is not Opcode.CONT:
            return
        if len(self._parts) >= MOST_PARTS:
            self._fail()
            return
        self._parts.append(bytes(frame.data))
        if not frame.fin:
            return
        data, self._parts = b"".join(self._parts), []
        try:
            told: Message = {"text": data.decode()} if self._is_text else {"bytes": data}
        except UnicodeDecodeError:
            self._fail(1007)
            return
        self._bytes_held += len(data)
        self._deliver({"type": "websocket.receive", **told})

    def _deliver(self, message: Message) -> None:
        self._inbox.append(message)
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    async def receive(self) -> Message:
        while not self._inbox:
            self._waiter = self._connection.loop.create_future()
            await self._waiter
        message = self._inbox.popleft()
        if message["type"] == "websocket.receive":
            self._bytes_held -= len(message.get("bytes") or message.get("text", "").encode())
            self.mind_reading()
        return message

    def lost(self) -> None:
        self._state = "closed"
        code = self._frames.close_code
        self._deliver({"type": "websocket.disconnect", "code": code or 1006, "reason": self._frames.close_reason or ""})

    # What the application sends

    async def send(self, message: Message) -> None:
        if self._connection.is_gone:
            raise ClientGone
        kind = message["type"]
        if kind == "websocket.accept" and self._state == "opening":
            self._accept(message)
        elif kind == "websocket.send" and self._state == "open":
            text = message.get("text")
            if text is not None:
                self._frames.send_text(text.encode())
            else:
                self._frames.send_binary(message["bytes"])
            self._flush()
        elif kind == "websocket.close":
            self.end(message.get("code", 1000), message.get("reason") or "")
        elif kind == "websocket.http.response.start" and self._state == "opening":
            self._state = "refusing"
            self._head(message["status"], message.get("headers", ()), b"connection: close\r\n")
        elif kind == "websocket.http.response.body" and self._state == "refusing":
            self._connection.write(message.get("body", b""))
            if not message.get("more_body"):
                self.end()
        elif self._state != "closed":
            raise RuntimeError(f"{kind} is out of place here")
        await self._connection.until_read()

    # What is written by somebody else than the one who listens (`base/pipe.py`)

    is_chunked = False

    def stay(self) -> None:
        """Whether somebody is still there is asked by pings."""

    def push(self, data: bytes) -> None:
        if self._state == "open" and not self._connection.is_gone:
            self._connection.write(data)

    @property
    def unread(self) -> int:
        return self._connection.unsent()

    def stop(self, code: int, reason: str = "") -> None:
        self.end(code, reason)

    # What somebody needs who passes the socket on to another server, byte by byte

    def pass_on(self, head: bytes, take: Callable[[bytes], None]) -> None:
        """Answer with `head`, which the other server gave; from now on `take` gets whatever comes."""
        self._state, self._pass = "passed", take
        self._connection.is_known = True
        self._connection.register.wait_for(self._connection)
        self._connection.expect_acknowledgements()
        self._connection.write(head)
        if self._early:
            take(bytes(self._early))

    async def write(self, data: bytes) -> None:
        """Bytes for the client, as they are; waits while it does not read."""
        if self._connection.is_gone:
            raise ClientGone
        self._connection.write(data)
        await self._connection.until_read()

    def hold(self, *, still: bool) -> None:
        """Read nothing from the client for as long as the other side takes nothing."""
        self._is_held = still
        self.mind_reading()

    def part(self, *, last: bytes = b"") -> None:
        """End a socket that was passed on, after these bytes."""
        if self._state == "passed" and not self._connection.is_gone:
            self._state = "closed"
            if last:
                self._connection.write(last)
            self._connection.transport.close()

    def _accept(self, message: Message) -> None:
        self._frames.max_message_size = message.get("max_size") or MOST_MESSAGE
        key = hashlib.sha1(self._request.header(b"sec-websocket-key") + _MAGIC, usedforsecurity=False).digest()
        more = b"upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: %b\r\n" % base64.b64encode(key)
        if message.get("subprotocol"):
            more += b"sec-websocket-protocol: %b\r\n" % message["subprotocol"].encode()
        self._head(101, message.get("headers", ()), more)
        self._state = "open"
        # From now on it is listened to like those who have signed in: the application has let it in.
        self._connection.is_known = True
        self._connection.register.wait_for(self._connection)
        if self._early:
            self.feed(bytes(self._early))

    def _head(self, status: int, headers: Any, more: bytes) -> None:
        lines = [wire.status_line(status), wire.date_line(), *(b"%b: %b\r\n" % one for one in headers)]
        head = b"".join(lines)
        if head.count(b"\n") != len(lines) or head.count(b"\r") != len(lines):
            raise RuntimeError("a header holds a line of its own")
        self._connection.write(head + more + b"\r\n")

    def _flush(self) -> None:
        told = self._frames.data_to_send()
        pongs = [one for one in told if one[:1] == PONG]
        for data in told:
            if data[:1] == PONG and data is not pongs[-1]:
                continue  # the last of several answers them all (RFC 6455, section 5.5.3)
            if data:
                self._connection.write(data)
            else:  # the library's word for the end
                self._part(ends=True)

    def overdue(self, now: float) -> str:
        """Ask whether somebody is still there; `slow_reader` when nothing was heard for long."""
        if self._pass is not None:
            return ""  # its two ends ask for each other; one that has vanished is noticed by the system
        if self.is_still:
            self._heard_at = now  # it is us who do not listen
        if now - self._heard_at > DEAF_SECONDS:
            return "slow_reader"
        if now - max(self._heard_at, self._pinged_at) > PING_SECONDS and self._state == "open":
            self._pinged_at = now
            self._frames.send_ping(b"")
            self._flush()
        return ""

    def end(self, code: int = 1000, reason: str = "") -> None:
        """Say goodbye in whichever language is spoken by now."""
        if self._state == "closed" or self._connection.is_gone:
            return
        if self._state == "open" and self._frames.state.name == "OPEN":
            self._frames.send_close(code, reason)
            self._flush()
            self._part(ends=False)
            return
        if self._state == "opening":
            self._head(403, ((b"content-length", b"0"),), b"connection: close\r\n")
        if self._state == "passed":
            self._connection.write(wire.close_frame(code))
        self._state = "closed"
        self._connection.transport.close()

    def _part(self, *, ends: bool) -> None:
        """Wait for the client to say goodbye, too, and throw away what else it sends: it must live to read ours."""
        transport = self._connection.transport
        if self._state != "closed":
            self._state = "closed"
            self._inbox.clear()
            self._bytes_held = 0
            self._deliver({"type": "websocket.disconnect", "code": self._frames.close_code or 1006, "reason": ""})
            self._connection.loop.call_later(END_SECONDS, self._connection.cut)
            self.mind_reading()
        if ends and not transport.is_closing():
            transport.write_eof() if transport.can_write_eof() else transport.close()


def _subprotocols(request: Request) -> list[str]:
    told = request.header(b"sec-websocket-protocol").decode("latin-1")
    return [one.strip() for one in told.split(",") if one.strip()]
