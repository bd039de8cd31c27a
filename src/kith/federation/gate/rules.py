"""Who is let in, from the lists of the team: pure functions over what is kept in memory."""

from __future__ import annotations

import msgspec

from kith.social.admission.tables import ServerBlock
from kith.social.remote_servers import names_above

__all__ = ["Lists"]


class Lists(msgspec.Struct, frozen=True):
    """`allowed` is None where everybody is let in who is not blocked."""

    blocks: dict[str, ServerBlock]
    allowed: frozenset[str] | None = None

    def block_of(self, domain: str) -> ServerBlock | None:
        """The most specific one counts."""
        if not self.blocks:
            return None
        return next((self.blocks[name] for name in names_above(domain) if name in self.blocks), None)

    def admits(self, domain: str) -> bool:
        """Only a server that is listed itself is allowed: who owns a name need not answer for those below it."""
        if self.allowed is not None and domain.lower() not in self.allowed:
            return False
        found = self.block_of(domain)
        return found is None or found.severity != "suspend"
