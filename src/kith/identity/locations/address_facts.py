"""A port by which events learn where an address is; what stands behind it is loaded with the server."""

from __future__ import annotations

from typing import Any, Protocol


class AddressFacts(Protocol):
    def facts(self, address: str) -> dict[str, Any]:
        """`geo` and `asn` of an address, as far as they are known."""
