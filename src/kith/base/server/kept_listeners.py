"""Listening sockets that outlive the process that answers on them.

A process that is replaced leaves its sockets to the next one: whoever connects meanwhile waits in them, and nobody is
turned away. They go to the same program started anew by descriptor, or to the keeper of several processes, which hands
them to the next one.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

import msgspec

__all__ = ["LINE", "READY", "KeptListeners", "environment_of", "keep_listeners", "kept_listeners"]

_LISTENERS = "LISTENERS_OF_KITH"  # no setting: settings begin with KITH_
LINE = "KEEPER_OF_KITH"
READY = b"ready"


class KeptListeners:
    """Of one process: what it was left by the one before it, and what it leaves."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        given = environment.get(_LISTENERS, "{}")
        self._inherited: dict[str, int] = msgspec.json.decode(given, type=dict[str, int])
        self._kept: dict[str, socket.socket] = {}
        line = environment.get(LINE, "")
        self._line = socket.socket(fileno=int(line)) if line else None
        for descriptor in self._inherited.values():
            os.set_inheritable(descriptor, False)

    def has(self, host: str, port: int) -> bool:
        return _name(host, port) in self._inherited

    def adopt(self, host: str, port: int) -> socket.socket | None:
        descriptor = self._inherited.pop(_name(host, port), None)
        return None if descriptor is None else socket.socket(fileno=descriptor)

    def keep(self, host: str, port: int, listener: socket.socket) -> None:
        name = _name(host, port)
        if self._line is None:
            self._kept[name] = listener.dup()
        else:
            socket.send_fds(self._line, [name.encode()], [listener.fileno()])

    def tell_ready(self) -> None:
        """It answers now. What was left and is no longer wanted would keep people waiting for nobody."""
        for descriptor in self._inherited.values():
            os.close(descriptor)
        self._inherited.clear()
        if self._line is not None:
            self._line.send(READY)

    def for_next(self) -> dict[str, str]:
        """The environment of the program that this process becomes."""
        for listener in self._kept.values():
            listener.set_inheritable(True)
        return environment_of({name: listener.fileno() for name, listener in self._kept.items()})


def environment_of(descriptors: dict[str, int]) -> dict[str, str]:
    return {_LISTENERS: msgspec.json.encode(descriptors).decode()}


def _name(host: str, port: int) -> str:
    return f"{host} {port}"


_of_this_process: KeptListeners | None = None


def keep_listeners(environment: Mapping[str, str]) -> KeptListeners:
    """From now on this process keeps what it listens on."""
    global _of_this_process  # noqa: PLW0603 - a process has one set of descriptors
    _of_this_process = KeptListeners(environment)
    return _of_this_process


def kept_listeners() -> KeptListeners | None:
    return _of_this_process
