"""Where messages may be sent to: the address of a push service, which an app names and nobody has checked."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import ip_address

from yarl import URL

from kith.base.errors import Complaint, Unavailable
from kith.base.http import OutgoingError, PrivateHosts, checked_url
from kith.base.http.names import Names
from kith.base.http.urls import parse_url
from kith.base.places import Full
from kith.base.work import Work

__all__ = ["EndpointNames", "complain", "host_of", "is_sendable", "origin_of"]

LONGEST = 2048


class EndpointNames(Names):
    """Names that apps give are asked for beside all others: however slow they are, nobody else waits for them."""


@lru_cache(4)
def _private_hosts(texts: tuple[str, ...]) -> PrivateHosts:
    return PrivateHosts(texts)


async def complain(work: Work, endpoint: str) -> Complaint | None:
    """What is wrong with it. A name is looked up, so that a private address is refused when it is given.

    The guarded client looks again with every message, since a name may lead elsewhere by then.
    """
    if len(endpoint) > LONGEST:
        return Complaint(f"is too long (maximum is {LONGEST} characters)", "too_long")
    try:
        url = parse_url(checked_url(endpoint))
    except OutgoingError:
        return Complaint("is not a valid URL")
    private_hosts = _private_hosts(tuple(work.settings.private_hosts))
    host, port = url.raw_host or "", url.port or 443
    if not _has_fit_scheme(url, private_hosts):
        return Complaint("must begin with https://")
    try:
        found = await work.find(EndpointNames).resolve(host)
    except Full as full:
        raise Unavailable from full
    if found and not any(private_hosts.may_reach(host, ip_address(one.partition("%")[0]), port) for one in found):
        return Complaint("is not at a public address")
    return None


def is_sendable(work: Work, endpoint: str) -> bool:
    """Whether its scheme still fits, by the settings of today."""
    return _has_fit_scheme(parse_url(endpoint), _private_hosts(tuple(work.settings.private_hosts)))


def _has_fit_scheme(url: URL, private_hosts: PrivateHosts) -> bool:
    """Plain http only to hosts that the operator has listed."""
    return url.scheme == "https" or private_hosts.lists(url.raw_host or "", url.port or 80)


def host_of(endpoint: str) -> str:
    return parse_url(endpoint).raw_host or ""


def origin_of(endpoint: str) -> str:
    return str(parse_url(endpoint).origin())
