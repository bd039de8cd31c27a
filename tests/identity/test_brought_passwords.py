"""Passwords whose hashes came from another server."""

from __future__ import annotations

import bcrypt
import pytest

from kith.identity.users.passwords import Passwords


@pytest.mark.parametrize(
    ("chosen", "given", "is_right"),
    [
        ("sesame", "sesame", True),
        ("sesame", "Sesame", False),
        ("sesame", "", False),
        ("x" * 80, "x" * 80, True),
        ("x" * 80, "x" * 72 + "anything: bcrypt never looked further", True),
        ("ü" * 40, "ü" * 40, True),
        ("sesame", "s" * 10_000, False),
    ],
)
async def test_a_bcrypt_hash_is_checked_and_due_to_be_replaced(chosen: str, given: str, is_right: bool) -> None:
    passwords = Passwords(rounds=1, kibibytes=64)
    stored = bcrypt.hashpw(chosen.encode()[:72], bcrypt.gensalt(4, b"2a")).decode()
    assert await passwords.check(stored, given) is is_right
    assert passwords.needs_rehash(stored)
    passwords.close()


@pytest.mark.parametrize("stored", ["$2a$", "$2b$99$x", "$2y$10$" + "\x00" * 53, "$2a$10$ü"])
async def test_what_is_no_hash_is_never_right(stored: str) -> None:
    passwords = Passwords(rounds=1, kibibytes=64)
    assert not await passwords.check(stored, "anything")
    assert not await passwords.check(await passwords.hash("mine"), "anything")
    assert not await passwords.check(None, "anything")
    passwords.close()
