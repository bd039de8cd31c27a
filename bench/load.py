"""The load: a small closed-loop HTTP client, run as a process of its own.

Every connection sends the prepared bytes, waits for the whole answer and sends again. It speaks to this
machine only, for a bounded time and a bounded count. Nothing but the standard library is imported, so that a
burst starts in a moment and the client costs little beside the server it drives.
"""

from __future__ import annotations

import array
import gc
import itertools
import json
import os
import select
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

HOST = "127.0.0.1"
CONNECTIONS = 16
WARM_SECONDS = 0.15
SILENCE_SECONDS = 10.0
MOST_SECONDS = 60.0
MOST_REQUESTS = 500_000
PIECE = 1 << 15  # larger ones are mapped and unmapped for every answer, which halves the rate
FINE = b"HTTP/1.1 20"  # whatever was taken


class BadAnswer(Exception):  # noqa: N818 - it is the answer that is bad
    """Not a whole yes with a content-length: there is nothing to measure."""


def how_long(head: bytes) -> int:
    """The length of the body that `head` announces."""
    if not head.startswith(FINE):
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
    """Connections to one port, all asking the same, or one thing of a list after the other.

    Where a request says `{number}` each asks anew.
    """

    def __init__(self, port: int, request: str | list[str], connections: int) -> None:
        self._requests = requests_of(request)
        self._epoll = select.epoll()
        self._sockets: dict[int, socket.socket] = {}
        for _ in range(connections):
            one = socket.create_connection((HOST, port), timeout=SILENCE_SECONDS)
            # Without a timeout of its own: that costs a system call more for each of the others.
            one.settimeout(None)
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sockets[one.fileno()] = one
            self._epoll.register(one, select.EPOLLIN)

    def ask_once(self) -> None:
        """One whole request on one connection: whatever a server does only the first time is done now."""
        fd = next(iter(self._sockets))
        os.write(fd, next(self._requests))
        answer = b""
        while not is_whole(answer):
            self._ready()
            answer += os.read(fd, PIECE)

    def press(self, seconds: float, most: int) -> tuple[array.array[float], float]:
        """Ask on every connection until time or count is up; how long each answer took, and all of them."""
        clock, read, write, requests = time.perf_counter, os.read, os.write, self._requests
        took: array.array[float] = array.array("d")
        sent_at: dict[int, float] = {}
        begun: dict[int, bytes] = {}
        usual = -1
        now = started_at = clock()
        done = list(self._sockets)
        while done or sent_at:
            if now - started_at < seconds and len(took) < most:
                for fd in done:
                    sent_at[fd] = now
                    write(fd, next(requests))
            done = []
            if not sent_at:
                break
            ready = self._ready()
            now = clock()
            for fd, _ in ready:
                answer = begun.pop(fd, b"") + read(fd, PIECE)
                if len(answer) != usual or not answer.startswith(FINE):
                    if not is_whole(answer):
                        begun[fd] = answer
                        continue
                    usual = len(answer)
                took.append(now - sent_at.pop(fd))
                done.append(fd)
        return took, clock() - started_at

    def _ready(self) -> list[tuple[int, int]]:
        ready = self._epoll.poll(SILENCE_SECONDS)
        if not ready:
            raise BadAnswer("no answer for a long time")
        return ready

    def close(self) -> None:
        self._epoll.close()
        for one in self._sockets.values():
            one.close()


def requests_of(template: str | list[str]) -> Iterator[bytes]:
    if isinstance(template, list):
        each = [requests_of(one) for one in template]
        return (next(one) for one in itertools.cycle(each))
    before, number, after = template.encode("latin-1").partition(b"{number}")
    if not number:
        return itertools.repeat(before)
    # Counted from the microsecond it is: no later burst meets the same numbers again.
    return (b"%b%d%b" % (before, count, after) for count in itertools.count(time.time_ns() // 1000))


def main() -> None:
    """Read what to do from standard input as JSON, do it, write what came of it to standard output."""
    told = json.load(sys.stdin)
    load = Load(told["port"], told["request"], told["connections"])
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
