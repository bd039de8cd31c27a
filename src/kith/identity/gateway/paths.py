"""Paths and addresses that browsers and proxies name: what is one of ours, and what may be open to everybody."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import msgspec

from kith.base.patterns import linear

__all__ = [
    "HostPath",
    "OriginalURL",
    "climbs",
    "host_key",
    "in_domain",
    "is_open",
    "normal_path",
    "read_original",
    "readings",
    "skip_patterns",
]

_HOST = re.compile(r"[A-Za-z0-9_.-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:[0-9]{1,5})?")
_LAST_DOT = re.compile(r"\.(?=(:[0-9]+)?\Z)")
# What servers read in more than one way: an escaped slash, backslash, dot, percent sign or zero, and parameters of
# path segments.
_AMBIGUOUS = re.compile(r"%(2f|5c|2e|25|00|3b)|[\\;]", re.IGNORECASE)
_MORE_THAN_ONE_WAY = re.compile(r"[%\\;]|//|/\.")
_MOST_DECODINGS = 3
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
MOST_URL = 8192


class HostPath(msgspec.Struct, frozen=True):
    """An address that may be a gateway's: a host with its port, and a path."""

    host: str
    path: str


class OriginalURL(msgspec.Struct, frozen=True):
    """What the browser asked the outer proxy for."""

    scheme: str
    host: str
    path: str
    query: str = ""

    @property
    def place(self) -> HostPath:
        return HostPath(self.host, self.path)

    @property
    def text(self) -> str:
        return f"{self.scheme}://{self.host}{self.path}{'?' if self.query else ''}{self.query}"


def host_key(host: str, scheme: str) -> str | None:
    """A host as it is compared: lower case, without a last dot and the port that its scheme implies.

    None for what is no host.
    """
    if not _HOST.fullmatch(host):
        return None
    return _LAST_DOT.sub("", host.lower().removesuffix(_DEFAULT_PORTS.get(scheme, "")))


def read_original(text: str) -> OriginalURL | None:
    """An absolute URL as a proxy tells it; None for anything else.

    A proxy hands on what was sent, and some send a `#`: applications take what follows for a part of the path, so it is
    one here, too.
    """
    if len(text) > MOST_URL or not text.isprintable() or " " in text:
        return None
    try:
        parts = urlsplit(text, allow_fragments=False)
    except ValueError:
        return None
    scheme = parts.scheme.lower()
    host = host_key(parts.netloc, scheme) if scheme in _DEFAULT_PORTS else None
    if host is None or (parts.path and not parts.path.startswith("/")):
        return None
    return OriginalURL(scheme, host, parts.path or "/", parts.query)


def in_domain(host: str, domain: str) -> bool:
    """Whether `host` is `domain` or lies below it; the port says nothing about that."""
    name = host.rpartition(":")[0] if re.search(r":[0-9]+\Z", host) else host
    domain = domain.lstrip(".").lower()
    return bool(domain) and (name == domain or name.endswith(f".{domain}"))


def normal_path(raw: str) -> str | None:
    """The decoded path, if every server reads it in the same way; None for one that could mean another place."""
    if _AMBIGUOUS.search(raw) or not raw.startswith("/"):
        return None
    try:
        path = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        return None
    if not path.isprintable() or "\\" in path or ";" in path or "?" in path or "#" in path or "%" in path:
        return None
    segments = path.split("/")
    if any(one in (".", "..") for one in segments) or "" in segments[1:-1]:
        return None
    return path


def readings(raw: str) -> set[str]:
    """Every path that some server may take this one for: applications and proxies differ in what they decode, leave
    out and put together."""
    if not _MORE_THAN_ONE_WAY.search(raw):
        return {raw}
    found = {raw}
    for spelled in _spellings(raw):
        for joined in (spelled, re.sub("//+", "/", spelled)):
            found.add(_walked(joined))
    return found


def climbs(raw: str) -> bool:
    """Whether some server may read a step upwards in this path."""
    return any(".." in spelled.split("/") for spelled in _spellings(raw))


def _spellings(raw: str) -> set[str]:
    found = {raw}
    text = raw
    for _ in range(_MOST_DECODINGS):
        text = unquote_to_bytes(text).decode("utf-8", "replace")
        found.add(text)
    found |= {one.replace("\\", "/") for one in found}
    return found | {re.sub(r";[^/]*", "", one) for one in found}


def _walked(path: str) -> str:
    """The path after all of its steps back."""
    found: list[str] = []
    *above, last = path.split("/")[1:]
    for one in above:
        if one == "..":
            del found[-1:]
        elif one != ".":
            found.append(one)
    if last in (".", ".."):
        del found[len(found) - (last == "..") :]
        last = ""
    return "/" + "/".join([*found, last])


def skip_patterns(lines: str) -> tuple[Any, ...]:
    """The expressions of `skip_path_regex`; a line that is none protects as before."""
    return tuple(found for line in lines.splitlines() if line.strip() and (found := linear(line.strip())) is not None)


def is_open(patterns: tuple[Any, ...], raw_path: str, *, before: str = "") -> bool:
    """Whether everybody may have this path. `before` is scheme and host, where whole URLs are compared."""
    if not patterns:
        return False
    path = normal_path(raw_path)
    return path is not None and any(pattern.search(before + path) for pattern in patterns)
