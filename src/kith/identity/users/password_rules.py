"""What a new password must be like: the question. The policies, which stand above this room, answer it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kith.base.work import Work


class PasswordRules(Protocol):
    async def ask(self, work: Work, password: str, user_id: int | None, known: Mapping[str, str]) -> list[str]:
        """Why it is refused, in words for people; nothing when it is fine.

        `user_id` is whose it will be, None for somebody who is about to be made; `known` is what is known of them.
        """
