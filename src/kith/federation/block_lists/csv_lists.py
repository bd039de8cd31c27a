"""Lists of servers as Mastodon writes and reads them: `#domain,#severity,#reject_media,...`, one in a line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

import msgspec

from kith.base.spreadsheets import as_written, harmless, write_quoted
from kith.social.admission.servers import LONGEST_COMMENT, SEVERITIES
from kith.social.admission.tables import ServerAllow, ServerBlock
from kith.social.text.domains import domain_of

__all__ = ["MOST_BYTES", "BadBlockList", "ListedServer", "ReadList", "read_list", "write_allows", "write_blocks"]

MOST_BYTES = 4 << 20
MOST_ROWS = 20_000
LONGEST_LINE = 100_000
HEADS = ("domain", "severity", "reject_media", "reject_reports", "public_comment", "obfuscate")
_YES = frozenset({"true", "t", "1", "yes"})
_ORDER = {"noop": 0, "silence": 1, "suspend": 2}


class BadBlockList(Exception):  # noqa: N818 - the words say what is bad about it, after its name
    """It cannot be read at all."""


class ListedServer(msgspec.Struct, frozen=True):
    """What a list asks for."""

    domain: str
    severity: str = "suspend"
    reject_media: bool = False
    reject_reports: bool = False
    obfuscate: bool = False
    public_comment: str | None = None


class ReadList(msgspec.Struct, frozen=True):
    """Each domain once, and how many lines were not understood."""

    servers: tuple[ListedServer, ...]
    refused: int = 0


def read_list(raw: bytes) -> ReadList:
    """Lines that name no domain, such as hidden names with asterisks, are counted and passed over.

    A list without a line of heads is a list of domains. Of two lines for one domain the stricter counts.
    """
    if len(raw) > MOST_BYTES:
        raise BadBlockList(f"is larger than {MOST_BYTES} bytes")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadBlockList("is not UTF-8") from error
    found: dict[str, ListedServer] = {}
    refused = 0
    for row in _rows(text):
        server = _server(row)
        if server is None:
            refused += 1
        elif server.domain not in found or _is_stricter(server, found[server.domain]):
            found[server.domain] = server
    if refused and not found:
        raise BadBlockList("names no server in any line")
    return ReadList(tuple(found[name] for name in sorted(found)), refused)


def _rows(text: str) -> Iterable[dict[str, str]]:
    before = csv.field_size_limit(LONGEST_LINE)
    try:
        lines = [line for line in csv.reader(io.StringIO(text, newline="")) if any(cell.strip() for cell in line)]
    except csv.Error as error:
        raise BadBlockList(f"is no CSV: {error}") from error
    finally:
        csv.field_size_limit(before)
    if len(lines) > MOST_ROWS:
        raise BadBlockList(f"has more than {MOST_ROWS} lines")
    heads: Sequence[str] = ("domain", "severity")
    if lines and _head(lines[0][0]) == "domain":
        heads = [_head(cell) for cell in lines.pop(0)]
    return [dict(zip(heads, line, strict=False)) for line in lines]


def _head(cell: str) -> str:
    return cell.strip().removeprefix("#").strip().lower()


def _server(row: dict[str, str]) -> ListedServer | None:
    domain = domain_of(row.get("domain", "").strip().removeprefix("*.")[:500])
    severity = row.get("severity", "").strip().lower() or "suspend"
    if domain is None or severity not in SEVERITIES:
        return None
    said = as_written(row.get("public_comment", "").strip())[:LONGEST_COMMENT]
    media, reports, obfuscate = (
        row.get(name, "").strip().lower() in _YES for name in ("reject_media", "reject_reports", "obfuscate")
    )
    return ListedServer(domain, severity, media, reports, obfuscate, said.replace("\0", "") or None)


def _is_stricter(one: ListedServer, other: ListedServer) -> bool:
    return _ORDER[one.severity] > _ORDER[other.severity]


def write_blocks(blocks: Iterable[ServerBlock]) -> bytes:
    rows = [
        [
            one.domain,
            one.severity,
            _word(one.reject_media),
            _word(one.reject_reports),
            harmless(one.public_comment or ""),
            _word(one.obfuscate),
        ]
        for one in blocks
    ]
    return _written([[f"#{name}" for name in HEADS], *rows])


def write_allows(allows: Iterable[ServerAllow]) -> bytes:
    return _written([["#domain"], *([one.domain] for one in allows)])


def _word(value: bool) -> str:
    return "true" if value else "false"


def _written(rows: Iterable[Sequence[str]]) -> bytes:
    return write_quoted(rows, line_end="\n").encode()
