"""Password hashing with argon2id in threads, and a short memory of right passwords.

Hashes that people brought from another server (bcrypt, PBKDF2) are checked too, and replaced at the first sign-in.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from kith.base import asking
from kith.base.caches import ForAWhile
from kith.base.db import writing
from kith.base.errors import Unavailable
from kith.base.metrics import PASSWORD_CHECKS as CHECKS
from kith.base.places import Full, Places
from kith.identity.users import brought_passwords

if TYPE_CHECKING:
    from argon2 import PasswordHasher

__all__ = ["MOST_CHARACTERS", "Passwords"]

MOST_CHARACTERS = 256
ROUNDS, KIBIBYTES = 2, 19_456  # what one hash costs
REMEMBER_SECONDS = 60.0
REMEMBER_MOST = 10_000
WAIT_SECONDS = 30.0

Value = TypeVar("Value")


class Passwords:
    """Hashes and checks passwords in threads of its own, one per core.

    A hash says what it cost, so that one made at another cost is checked like any other.
    """

    def __init__(self, *, rounds: int | None = None, kibibytes: int | None = None) -> None:
        self._rounds, self._kibibytes = rounds or ROUNDS, kibibytes or KIBIBYTES
        cores = os.cpu_count() or 1
        self._threads = ThreadPoolExecutor(cores, thread_name_prefix="argon2")
        self._places = Places("passwords", most=cores, each={"caller": max(1, cores - 1)})
        self._key = secrets.token_bytes(32)
        self._right: ForAWhile[bool] = ForAWhile("passwords", seconds=REMEMBER_SECONDS, most=REMEMBER_MOST)
        self._nobody: str | None = None
        self._brought: dict[str, str] = {}  # a hash of nobody's of each other kind, once one of somebody's was seen

    @cached_property
    def _hasher(self) -> PasswordHasher:
        from argon2 import PasswordHasher  # noqa: PLC0415 - loaded when first used

        return PasswordHasher(time_cost=self._rounds, memory_cost=self._kibibytes, parallelism=1)

    async def hash(self, password: str) -> str:
        writing.refuse("A password is hashed")
        return await self._beside(self._hasher.hash, password)

    async def check(self, stored: str | None, password: str, *, where: str = "", anew: bool = False) -> bool:
        """Whether `password` belongs to `stored`; with nothing stored it costs the same and is never right.

        A right one is remembered for whoever comes from `where`, and for nobody else. `anew`: worked out whatever is
        remembered, and not remembered, for an answer that must always cost the same.
        """
        writing.refuse("A password is checked")
        if len(password) > MOST_CHARACTERS:
            return False
        if not anew and self.is_remembered(stored, password, where):
            return True
        if self._nobody is None:
            self._nobody = await self.hash(secrets.token_urlsafe(16))
        right = await self._beside(self._verify, stored or self._nobody, password)
        CHECKS.inc()
        if not right or stored is None:
            return False
        if not anew:
            self._right.put(self.memory(stored, password, where), True)
        return True

    async def _beside(self, work_out: Callable[..., Value], *given: str) -> Value:
        """In a thread. Callers take turns: whoever tries a hundred passwords waits behind themselves."""
        try:
            async with self._places.take(seconds=WAIT_SECONDS, caller=asking.caller()):
                return await asyncio.get_running_loop().run_in_executor(self._threads, work_out, *given)
        except Full as full:
            raise Unavailable from full

    def is_remembered(self, stored: str | None, password: str, where: str = "") -> bool:
        """Whether this password was right for this hash a moment ago."""
        if stored is None or len(password) > MOST_CHARACTERS:
            return False
        return self._right.get(self.memory(stored, password, where)) is True

    def needs_rehash(self, stored: str) -> bool:
        from argon2.exceptions import InvalidHashError  # noqa: PLC0415 - loaded when first used

        try:
            return self._hasher.check_needs_rehash(stored)
        except InvalidHashError:
            return True

    def memory(self, stored: str, password: str, where: str = "") -> bytes:
        """The key under which a right password is remembered.

        Useless without this process's secret, void if `stored` changes.
        """
        return hashlib.blake2b(
            f"{where}\0{stored}\0{password}".encode("utf-8", "surrogatepass"), key=self._key
        ).digest()

    def _verify(self, stored: str, password: str) -> bool:
        """Where several kinds of hashes are in use, every wrong password costs one of each: how long the answer takes
        says neither who there is nor who has not signed in since they came."""
        kind = brought_passwords.kind_of(stored)
        if kind and kind not in self._brought:
            self._brought[kind] = brought_passwords.nobodys(stored)
        if brought_passwords.is_right(stored, password) if kind else self._is_ours(stored, password):
            return True
        if kind:
            self._is_ours(self._nobody or "", password)
        for other, nobodys in list(self._brought.items()):
            if other != kind:
                brought_passwords.is_right(nobodys, password)
        return False

    def _is_ours(self, stored: str, password: str) -> bool:
        from argon2.exceptions import Argon2Error, InvalidHashError  # noqa: PLC0415 - loaded when first used

        try:
            return self._hasher.verify(stored, password)
        except (Argon2Error, InvalidHashError):
            return False

    def close(self) -> None:
        self._threads.shutdown()
