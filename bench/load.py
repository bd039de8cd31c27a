"""The load: a small closed-loop HTTP client, run as a process of its own.

Every connection sends the same prepared bytes, waits for the whole answer and sends again. It speaks to this
machine only, for a bounded time and a bounded count. Nothing but the standard library is imported, so that a
burst starts in a moment and the client costs little beside the server it drives.
"""

from __future__ import annotations

import array
import gc
import json
import os
import select
import socket
import sys
import time
from pathlib import Path

HOST = "127.0.0.1"
CONNECTIONS = 16
WARM_SECONDS = 0.25
SILENCE_SECONDS = 10.0
MOST_SECONDS = 60.0
MOST_REQUESTS = 500_000
PIECE = 1 << 18


class BadAnswer(Exception):  # noqa: N818 - it is the answer that is bad
    """Not a whole 200 with a content-length: there is nothing to measure."""


def how_long(head: bytes) -> int:
    """The length of the body that `head` announces."""
    if not head.startswith(b"HTTP/1.1 200"):
        raise BadAnswer(head.decode("latin-1"))
    at = head.find(b"content-length: ")
    if at < 0:
        head = head.lower()
        at = head.find(b"content-length:")
        if at < 0:
            raise BadAnswer(f"no content-length:\n{head.decode('latin-1')}")
    return int(head[at + 15 :].split(b"\r", 1)[0])


def is_whole(answer: bytes) -> bool:
    end = answer.find(b"\r\n\r\n")
    return end >= 0 and len(answer) >= end + 4 + how_long(answer[: end + 2])


def cpu_seconds(pid: int) -> float:
    """What the process has used until now, in user and system time."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Load:
    """Connections to one port, all asking the same."""

    def __init__(self, port: int, request: bytes, connections: int) -> None:
        self._request = request
        self._epoll = select.epoll()
        self._sockets: dict[int, socket.socket] = {}
        for _ in range(connections):
            one = socket.create_connection((HOST, port), timeout=SILENCE_SECONDS)
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sockets[one.fileno()] = one
            self._epoll.register(one, select.EPOLLIN)

    def ask_once(self) -> None:
        """One whole request on one connection: whatever a server does only the first time is done now."""
        one = next(iter(self._sockets.values()))
        one.sendall(self._request)
        answer = b""
        while not is_whole(answer):
            answer += self._piece(one)

    def press(self, seconds: float, most: int) -> tuple[array.array[float], float]:
        """Ask on every connection until time or count is up; how long each answer took, and all of them."""
        clock, request, poll, sockets = time.perf_counter, self._request, self._epoll.poll, self._sockets
        started_at = clock()
        until = started_at + seconds
        took: array.array[float] = array.array("d")
        sent_at: dict[int, float] = {}
        begun: dict[int, bytes] = {}
        for fd, one in sockets.items():
            sent_at[fd] = clock()
            one.sendall(request)
        while sent_at:
            ready = poll(SILENCE_SECONDS)
            if not ready:
                raise BadAnswer("no answer for a long time")
            for fd, _ in ready:
                one = sockets[fd]
                answer = self._piece(one)
                if fd in begun:
                    answer = begun.pop(fd) + answer
                if not is_whole(answer):
                    begun[fd] = answer
                    continue
                now = clock()
                took.append(now - sent_at[fd])
                if now < until and len(took) < most:
                    sent_at[fd] = now
                    one.sendall(request)
                else:
                    del sent_at[fd]
        return took, clock() - started_at

    def _piece(self, one: socket.socket) -> bytes:
        piece = one.recv(PIECE)
        if not piece:
            raise BadAnswer("the server hung up")
        return piece

    def close(self) -> None:
        self._epoll.close()
        for one in self._sockets.values():
            one.close()


def main() -> None:
    """Read what to do from standard input as JSON, do it, write what came of it to standard output."""
    told = json.load(sys.stdin)
    load = Load(told["port"], told["request"].encode("latin-1"), told["connections"])
    load.ask_once()
    load.press(WARM_SECONDS, MOST_REQUESTS)
    gc.disable()
    server_cpu, client_cpu = cpu_seconds(told["pid"]), time.process_time()
    took, seconds = load.press(min(told["seconds"], MOST_SECONDS), MOST_REQUESTS)
    server_cpu, client_cpu = cpu_seconds(told["pid"]) - server_cpu, time.process_time() - client_cpu
    load.close()
    ordered = sorted(took)
    json.dump(
        {
            "rate": len(took) / seconds,
            "cpu_us": server_cpu / len(took) * 1e6,
            "p50_ms": ordered[len(ordered) // 2] * 1e3,
            "p99_ms": ordered[len(ordered) * 99 // 100] * 1e3,
            "client_share": client_cpu / seconds,
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
