"""What fetching needs of other rooms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

__all__ = ["HostGate", "OpenGate", "ReasonAgainst", "RequestSigner", "SignatureScheme"]

ReasonAgainst = Literal["own_domain", "blocked"]
SignatureScheme = Literal["cavage", "rfc9421"]


class RequestSigner(Protocol):
    """Somebody of ours in whose name a request is made."""

    async def sign(self, method: str, url: str, scheme: SignatureScheme) -> Mapping[str, str]:
        """The headers that prove who asks; `url` is exactly what will be asked for."""


class HostGate(Protocol):
    """Whom we talk to."""

    async def reason_against(self, domain: str) -> ReasonAgainst | None:
        """Why a server is not asked for anything. None: it may be."""


class OpenGate:
    """Everybody."""

    async def reason_against(self, domain: str) -> ReasonAgainst | None:  # noqa: ARG002
        return None
