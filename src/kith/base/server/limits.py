"""How many connections may be open, and how long each may keep the server waiting."""

from __future__ import annotations

import resource

import msgspec

from kith.base.settings import Settings

__all__ = ["ConnectionLimits", "limits_from"]

OTHER_FILES = 256  # descriptors kept for the database, stored files and calls to other servers
MOST_DESCRIPTORS = 65_536


class ConnectionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """`per_address` 0 and `least_rate` 0 mean that there is no such limit. Times are seconds."""

    connections: int = 8192
    per_address: int = 256
    head_seconds: float = 10.0
    body_seconds: float = 600.0
    grace_seconds: float = 10.0  # before a rate is asked for, and the longest silence where none is
    least_rate: int = 1024  # bytes per second, of a body that arrives and of an answer that is read
    idle_seconds: float = 20.0
    known_idle_seconds: float = 75.0  # for people who have signed in and for trusted proxies
    silence_seconds: float = 30.0  # in the midst of a body, where no rate is asked for
    max_body: int = 104_857_600
    unread_bytes: int = 128 << 20  # of answers that clients have not taken yet, of all together


def limits_from(settings: Settings) -> ConnectionLimits:
    """What is set, within what the system allows; without rate limits only times and the system's limit are left."""
    room = _raise_descriptors() - OTHER_FILES
    wanted = settings.max_connections if settings.rate_limits else room
    return ConnectionLimits(
        connections=max(16, min(wanted, room)),
        per_address=settings.max_connections_per_address if settings.rate_limits else 0,
        least_rate=ConnectionLimits().least_rate if settings.rate_limits else 0,
        max_body=settings.max_body,
    )


def _raise_descriptors() -> int:
    """Take as many descriptors as the system gives without being asked twice; how many that is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard > MOST_DESCRIPTORS:
        hard = MOST_DESCRIPTORS
    if soft == resource.RLIM_INFINITY or soft >= hard:
        return hard if soft == resource.RLIM_INFINITY else soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    return hard
