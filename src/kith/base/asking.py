"""On whose behalf something is done: the request that is being answered, or the job that is being run.

Whatever has only so many places asks here whom it should count them for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar
from ipaddress import IPv6Address, ip_network
from typing import Any, Protocol, TypeVar

__all__ = [
    "about",
    "address_key",
    "answer_for",
    "begin_for_everybody",
    "begin_to_call",
    "caller",
    "caused_by",
    "host",
    "is_for_a_stranger",
    "is_for_somebody_known",
    "job",
    "look_again",
    "may_use_reserve",
    "owner",
    "run_job",
    "uses_reserve",
]

STRANGERS = "strangers"
Result = TypeVar("Result")


class _Request(Protocol):
    """A request that is being answered; `user_id` is None until somebody has found out who sent it."""

    address: str
    user_id: int | None

    @property
    def is_entering(self) -> bool: ...

    @property
    def is_of_known(self) -> bool: ...

    async def look_again(self) -> None: ...


class _Job:
    __slots__ = ("has_called", "kind")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.has_called = False


_request: ContextVar[_Request | None] = ContextVar("answered_request", default=None)
_job: ContextVar[_Job | None] = ContextVar("running_job", default=None)
_owner: ContextVar[str | None] = ContextVar("owner_of_jobs", default=None)
_reserve: ContextVar[bool] = ContextVar("uses_reserve", default=False)
_host: ContextVar[str | None] = ContextVar("host_of_file", default=None)


def address_key(address: str) -> str:
    """Key by which callers are counted: an IPv4 address, or the /64 of an IPv6 one, which usually is one caller's.

    What listens for both sees IPv4 addresses within IPv6: all of them lie in one /64, and are not one caller's.
    """
    if ":" not in address:
        return address
    try:
        within = IPv6Address(address).ipv4_mapped
        return str(within) if within is not None else str(ip_network(f"{address}/64", strict=False))
    except ValueError:
        return address


def answer_for(request: _Request) -> None:
    """Until this task ends, and in what it starts, everything is done for whoever sent `request`."""
    _request.set(request)


def begin_for_everybody(doing: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
    """Begin a task that goes on after the request or job in which it is begun, and counts for nobody.

    Any other task inherits on whose behalf it was begun: whatever it did for all would take that one's places.
    """
    return asyncio.create_task(doing, context=Context())


@contextmanager
def run_job(kind: str, owner: str) -> Iterator[None]:
    """Marks this block as the run of a job: calls and jobs that follow from it count for the job's owner."""
    token = _job.set(_Job(kind))
    try:
        with caused_by(owner):
            yield
    finally:
        _job.reset(token)


@contextmanager
def caused_by(owner: str) -> Iterator[None]:
    """Makes `owner` (a member, or the site of another server) the owner of all jobs asked for in this block."""
    token = _owner.set(owner)
    try:
        yield
    finally:
        _owner.reset(token)


def owner() -> str:
    """On whose behalf jobs are done that are asked for now. Empty for what the server does by itself."""
    owner = _owner.get()
    if owner is not None:
        return owner
    return STRANGERS if is_for_a_stranger() else caller() or ""


@contextmanager
def about(host: str) -> Iterator[None]:
    """Marks everything in this block as caused by a file that `host` has sent."""
    token = _host.set(host)
    try:
        yield
    finally:
        _host.reset(token)


def host() -> str | None:
    """The other server that what is being done is about; None for what is our own."""
    return _host.get()


@contextmanager
def uses_reserve() -> Iterator[None]:
    """Marks what must be written in this block even on a full disk."""
    token = _reserve.set(True)
    try:
        yield
    finally:
        _reserve.reset(token)


def may_use_reserve() -> bool:
    """Whether what is written now is written on a full disk too: for somebody who is about to sign in or out."""
    request = _request.get()
    return _reserve.get() or (request is not None and request.is_entering and job() == "")


def caller() -> str | None:
    """Who has asked: a member by their id, anybody else by their address. None where nobody waits for an answer."""
    request = _request.get()
    if request is None:
        return None
    return address_key(request.address) if request.user_id is None else f"user:{request.user_id}"


def is_for_a_stranger() -> bool:
    """Whether somebody has asked who has not shown who they are."""
    request = _request.get()
    return request is not None and request.user_id is None


def is_for_somebody_known() -> bool:
    """Whether somebody has asked who has shown who they are, or asks from where somebody has signed in before."""
    request = _request.get()
    return request is not None and request.is_of_known


async def look_again() -> None:
    """Refuse whoever has asked if their session or token ended while the outside world was waited for."""
    request = _request.get()
    if request is not None and job() == "":
        await request.look_again()


def job() -> str:
    """The kind of the job that is being run; empty where there is none."""
    job = _job.get()
    return "" if job is None else job.kind


def begin_to_call() -> bool:
    """Whether this is the first call of a job: nothing is lost yet if it is done later."""
    job = _job.get()
    is_first = job is not None and not job.has_called
    if job is not None:
        job.has_called = True
    return is_first
