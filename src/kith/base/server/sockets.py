"""What is asked of a connection's socket itself, past the transport."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import termios
from typing import Any

__all__ = ["expect_acknowledgements", "forget_unread", "unacknowledged", "unread"]

ACKNOWLEDGED_SECONDS = 75  # within which a stream's client must have taken what was written


def unacknowledged(transport: Any) -> int:
    """How many bytes the system has taken from us that have not reached the other side."""
    return _ask(transport, termios.TIOCOUTQ)


def unread(transport: Any) -> int:
    """How many bytes have come that nobody has read yet."""
    return _ask(transport, termios.FIONREAD)


def _ask(transport: Any, question: int) -> int:
    try:
        fd = transport.get_extra_info("socket").fileno()
        (count,) = struct.unpack("i", fcntl.ioctl(fd, question, b"\0\0\0\0"))
    except (OSError, ValueError):
        return 0
    return int(count)


def expect_acknowledgements(transport: Any) -> None:
    """A client that has gone without a word is noticed when nothing of what was written arrives."""
    try:
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, ACKNOWLEDGED_SECONDS * 1000)
    except OSError:
        pass  # it is closed already


def forget_unread(transport: Any) -> None:
    """What the client has not read is thrown away at the end: the system would keep it for minutes."""
    try:
        with socket.socket(fileno=os.dup(transport.get_extra_info("socket").fileno())) as same:
            same.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass  # it is closed already
