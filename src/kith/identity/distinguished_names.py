"""Distinguished names (RFC 4514): how they are written, and when two are the same."""

from __future__ import annotations

import re
import string
from functools import lru_cache

__all__ = ["DistinguishedName", "escape", "join", "read_name", "squeezed"]

LONGEST = 4096
MOST_PARTS = 64

# The parts from the entry up to the root, each a type and a value, in lower case and without needless spaces.
DistinguishedName = tuple[tuple[str, str], ...]

_TYPE = re.compile(
    r"[ \t]*(?:oid\.)?([A-Za-z][A-Za-z0-9-]{0,100}|[0-9]{1,10}(?:\.[0-9]{1,10}){1,20})[ \t]*=", re.IGNORECASE
)
_PLAIN = re.compile(r"[^\\\",+;<>\0]+")
_SPECIAL = frozenset(' "#+,;<=>\\')
_OIDS = {
    "2.5.4.3": "cn",
    "2.5.4.11": "ou",
    "2.5.4.10": "o",
    "0.9.2342.19200300.100.1.25": "dc",
    "0.9.2342.19200300.100.1.1": "uid",
}


def escape(value: str) -> str:
    """A value as it stands in a name."""
    found = "".join("\\" + one if one in '"+,;<>\\' else f"\\{ord(one):02x}" if one < " " else one for one in value)
    if found.startswith(("#", " ")):
        found = "\\" + found
    return found[:-1] + "\\ " if found.endswith(" ") and not found.endswith("\\ ") else found


def join(type_: str, value: str, above: str) -> str:
    return f"{type_}={escape(value)},{above}"


@lru_cache(512)
def read_name(text: str) -> DistinguishedName | None:
    """None for what is no name, or longer than any; the empty name is the root."""
    if len(text) > LONGEST:
        return None
    if not text.strip():
        return ()
    parts: list[tuple[str, str]] = []
    at = 0
    while True:
        type_ = _TYPE.match(text, at)
        if type_ is None or len(parts) >= MOST_PARTS:
            return None
        value = _read_value(text, type_.end())
        if value is None:
            return None
        name = type_[1].lower()
        parts.append((_OIDS.get(name, name), squeezed(value[0])))
        at = value[1]
        if at == len(text):
            return tuple(parts)
        if text[at] not in ",;":  # of several types in one part nothing is known here
            return None
        at += 1


def squeezed(value: str) -> str:
    """As values are compared: without regard to case, and to spaces beyond the first."""
    return " ".join(value.casefold().split())


def _read_value(text: str, at: int) -> tuple[str, int] | None:
    """The value that begins at `at`, and where it ends."""
    at += len(text[at:]) - len(text[at:].lstrip(" "))
    if text.startswith('"', at):
        return _read_quoted(text, at + 1)
    if text.startswith("#", at):
        return None
    raw = bytearray()
    while at < len(text):
        plain = _PLAIN.match(text, at)
        if plain is not None:
            raw += plain[0].encode("utf-8", "surrogatepass")
            at = plain.end()
        elif text[at] == "\\":
            escaped = _read_escape(text, at)
            if escaped is None:
                return None
            raw += escaped[0]
            at = escaped[1]
        elif text[at] in ",;+":
            break
        else:
            return None
    return _decoded(bytes(raw), at)


def _read_quoted(text: str, at: int) -> tuple[str, int] | None:
    """The old way of writing a value with commas in it."""
    raw = bytearray()
    while at < len(text) and text[at] != '"':
        if text[at] == "\\":
            escaped = _read_escape(text, at)
            if escaped is None:
                return None
            raw += escaped[0]
            at = escaped[1]
        else:
            raw += text[at].encode("utf-8", "surrogatepass")
            at += 1
    if at >= len(text):
        return None
    at += 1
    while at < len(text) and text[at] == " ":
        at += 1
    return _decoded(bytes(raw), at)


def _read_escape(text: str, at: int) -> tuple[bytes, int] | None:
    pair = text[at + 1 : at + 3]
    if len(pair) == 2 and all(one in string.hexdigits for one in pair):
        return bytes((int(pair, 16),)), at + 3
    if pair and pair[0] in _SPECIAL:
        return pair[0].encode(), at + 2
    return None


def _decoded(raw: bytes, at: int) -> tuple[str, int] | None:
    """None where it is no text, or has the one character in it that no text here may have."""
    try:
        return (raw.decode(), at) if b"\0" not in raw else None
    except UnicodeDecodeError:
        return None
