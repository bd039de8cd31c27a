"""Who is calling when a proxy stands in between."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

__all__ = ["Proxies", "plain"]


LONGEST_ADDRESS = 60


class Proxies:
    """The proxies whose word about addresses is believed."""

    def __init__(self, networks: tuple[str, ...]) -> None:
        self._networks = tuple(ip_network(text, strict=False) for text in networks)
        self.is_one = lru_cache(1024)(self._is_one)

    def _is_one(self, address: str) -> bool:
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._networks)

    def caller(self, peer: str, headers: list[tuple[bytes, bytes]]) -> str:
        """The nearest address that is not a proxy's, or `peer` where nothing readable is said."""
        address = peer
        for part in reversed([text.strip() for text in _forwarded(headers).split(",")]):
            if not part or len(part) > LONGEST_ADDRESS:
                break
            address = part
            if not self.is_one(part):
                break
        try:
            return plain(str(ip_address(address)))
        except ValueError:
            return peer


def plain(address: str) -> str:
    """An IPv4 address as such, also where an IPv6 socket wrote it down."""
    if not address.startswith("::ffff:"):
        return address.partition("%")[0]
    mapped = ip_address(address)
    return str(mapped.ipv4_mapped) if isinstance(mapped, IPv6Address) and mapped.ipv4_mapped else address


def _forwarded(headers: list[tuple[bytes, bytes]]) -> str:
    """All lines together: a proxy may add its word as a line of its own, below what the client made up."""
    return ",".join(value.decode("latin-1") for name, value in headers if name == b"x-forwarded-for")
