"""A port for other places that keep a person's password; the sources, which are above this room, implement it."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work
from kith.identity.users.tables import User


class PasswordCopies(Protocol):
    async def write(self, work: Work, user: User, password: str) -> None:
        """Set a new password there too, before it is set here. Raises `Invalid` where it is refused."""
        ...
