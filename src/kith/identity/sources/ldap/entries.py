"""Entries of a directory as plain values: pure functions."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

MOST_VALUES = 200  # of an attribute that expressions are given; members are read apart from these
MOST_IN_DN = 2000  # of what is longer only so much is kept, and nobody signs in with it
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_DISABLED = 0x2
_NUMBER = re.compile(r"-?[0-9]{1,18}")


class DirectoryEntry(msgspec.Struct, frozen=True):
    """`raw` has the values of every attribute as bytes, by the attribute's name in small letters."""

    dn: str
    raw: dict[str, list[bytes]]
    names: dict[str, str]

    def all(self, name: str) -> list[str]:
        if name.lower() in ("dn", "distinguishedname") and name.lower() not in self.raw:
            return [self.dn]
        return [decoded(name, one) for one in self.raw.get(name.lower(), [])]

    def first(self, name: str) -> str:
        found = self.all(name)
        return found[0] if found else ""

    def attributes(self) -> dict[str, Any]:
        """All of it for expressions: a text where there is one value, a list where there are more."""
        found: dict[str, Any] = {}
        for key, values in self.raw.items():
            told = [decoded(key, one) for one in values[:MOST_VALUES]]
            found[self.names[key]] = told[0] if len(told) == 1 else told
        return found


def read_entry(dn: str, raw: Mapping[str, Sequence[bytes]]) -> DirectoryEntry:
    name_of_entry = dn.replace("\0", "").encode("utf-8", "ignore").decode()[:MOST_IN_DN]
    return DirectoryEntry(
        name_of_entry, {name.lower(): list(values) for name, values in raw.items()}, {n.lower(): n for n in raw}
    )


def decoded(name: str, value: bytes) -> str:
    """Text as it is; the binary identifiers of Active Directory as they are written; the rest in hexadecimal digits."""
    key = name.lower()
    if key == "objectsid" and not value.startswith(b"S-"):
        return read_sid(value)
    if key == "objectguid" and len(value) == 16:
        return str(uuid.UUID(bytes_le=value))
    try:
        return value.decode().replace("\0", "")
    except UnicodeDecodeError:
        return value.hex()


def read_sid(value: bytes) -> str:
    """`S-1-5-21-…`; what is no security identifier in hexadecimal digits."""
    if len(value) < 8 or len(value) != 8 + 4 * value[1]:
        return value.hex()
    authority = int.from_bytes(value[2:8], "big")
    parts = [int.from_bytes(value[at : at + 4], "little") for at in range(8, len(value), 4)]
    return "-".join(["S", str(value[0]), str(authority), *map(str, parts)])


def is_disabled(entry: DirectoryEntry) -> bool:
    """Active Directory says it in a bit, FreeIPA in a word, OpenLDAP's password policy by a moment that never ends."""
    control = entry.first("userAccountControl")
    if _NUMBER.fullmatch(control) and int(control) & _DISABLED:
        return True
    return entry.first("nsAccountLock").lower() == "true" or entry.first("pwdAccountLockedTime") == "000001010000Z"


def password_set_at(entry: DirectoryEntry) -> datetime | None:
    """When the password was changed in Active Directory, which counts tenths of microseconds since 1601."""
    told = entry.first("pwdLastSet")
    if not _NUMBER.fullmatch(told) or int(told) <= 0:
        return None
    return _EPOCH + timedelta(microseconds=int(told) // 10)


def dn_key(dn: str) -> str:
    """The normal form by which names are compared: blanks around separators and case do not count.

    Escaped characters stay as they are; what is written in two ways is rare, and is then two names.
    """
    parts: list[str] = []
    part, escaped = "", False
    for character in dn:
        if escaped or character == "\\":
            part, escaped = part + character, not escaped
        elif character in ",;":
            parts.append(part)
            part = ""
        else:
            part += character
    parts.append(part)
    return ",".join("=".join(side.strip() for side in one.split("=", 1)) for one in parts).casefold()[:500]


def escaped_value(text: str) -> str:
    """A value in a filter (RFC 4515)."""
    return "".join(f"\\{byte:02x}" if byte in b"*()\\\0" or byte > 127 else chr(byte) for byte in text.encode())
