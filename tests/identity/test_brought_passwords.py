"""Passwords whose hashes came from another server."""

from __future__ import annotations

import hashlib

import bcrypt
import pytest
from argon2 import PasswordHasher

from kith.identity.users.brought_passwords import brought, is_right
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


DJANGO = {  # as Django has written them, for the password `sesame`
    "pbkdf2_sha256": "pbkdf2_sha256$1200$saltsalt$S5QgDRgPBgB3GdtoUeKeNjCvEPaOGww7msA9c3nlvLY=",
    "pbkdf2_sha1": "pbkdf2_sha1$1200$saltsalt$5UbtoOzTx1yXFmebi5Yj1sEAZQI=",
    "bcrypt": "bcrypt$" + bcrypt.hashpw(b"sesame", bcrypt.gensalt(4)).decode(),
    "bcrypt_sha256": "bcrypt_sha256$"
    + bcrypt.hashpw(hashlib.sha256(b"sesame").hexdigest().encode(), bcrypt.gensalt(4)).decode(),
    "argon2": "argon2" + PasswordHasher(time_cost=1, memory_cost=64, parallelism=2).hash("sesame"),
}


@pytest.mark.parametrize("kind", DJANGO)
async def test_what_django_has_hashed_is_checked_and_due_to_be_replaced(kind: str) -> None:
    passwords = Passwords(rounds=1, kibibytes=64)
    stored = brought(DJANGO[kind])
    assert stored is not None
    assert await passwords.check(stored, "sesame")
    assert not await passwords.check(stored, "Sesame")
    assert not await passwords.check(await passwords.hash("mine"), "sesame")
    assert not await passwords.check(None, "sesame")
    assert passwords.needs_rehash(stored)
    passwords.close()


@pytest.mark.parametrize(
    "stored",
    [
        "",
        "!unusable",
        "md5$salt$0cc175b9c0f1b6a831c399e269772661",
        "pbkdf2_sha256$99000000$salt$" + "A" * 43 + "=",
        "pbkdf2_sha256$0$salt$" + "A" * 43 + "=",
        "pbkdf2_sha512$1000$salt$" + "A" * 43 + "=",
        "bcrypt$$2b$31$" + "A" * 53,
        "bcrypt_sha256$$2b$31$" + "A" * 53,
        "argon2$argon2id$v=19$m=9000000,t=2,p=8$c2FsdHNhbHQ$aGFzaGhhc2g",
    ],
)
async def test_a_hash_that_costs_too_much_or_is_none_does_not_come(stored: str) -> None:
    assert brought(stored) is None
    assert not is_right(stored, "anything")


@pytest.mark.parametrize("stored", ["$2a$", "$2b$99$x", "$2y$10$" + "\x00" * 53, "$2a$10$ü"])
async def test_what_is_no_hash_is_never_right(stored: str) -> None:
    passwords = Passwords(rounds=1, kibibytes=64)
    assert not await passwords.check(stored, "anything")
    assert not await passwords.check(await passwords.hash("mine"), "anything")
    assert not await passwords.check(None, "anything")
    passwords.close()
