"""A port for the rules of new passwords; the policies, which are above this room, implement it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kith.base.work import Work


class PasswordRules(Protocol):
    async def ask(self, work: Work, password: str, user_id: int | None, known: Mapping[str, str]) -> list[str]:
        """Why the password is refused, as texts for the person; empty if it is accepted.

        `user_id` is the owner, None for a new user; `known` is what is known of them.
        """
