"""Names that people have across servers: `user@domain`."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from kith.federation.vocabulary.incoming.ids import find_domain

__all__ = ["Handle", "read_handle"]

_HANDLE = re.compile(
    r"(?:acct:)?@?(?P<username>[^@\s/?#%&\x00-\x1f\x7f]{1,512})@(?P<domain>[^@\s/?#]{1,300})", re.IGNORECASE
)


class Handle(msgspec.Struct, frozen=True):
    """The domain is in lower case and carries its port, where it has one; the name is as it was written."""

    username: str
    domain: str

    @property
    def key(self) -> tuple[str, str]:
        """What two spellings of one handle have in common."""
        return self.username.lower(), self.domain

    @property
    def resource(self) -> str:
        return f"acct:{self.username}@{self.domain}"

    def __str__(self) -> str:
        return f"{self.username}@{self.domain}"


def read_handle(value: Any) -> Handle | None:
    """`user@domain`, with or without `acct:` or a leading @."""
    if not isinstance(value, str) or len(value) > 1000:
        return None
    match = _HANDLE.fullmatch(value.strip())
    domain = find_domain(f"https://{match['domain']}") if match else None
    return Handle(match["username"], domain) if match and domain else None
