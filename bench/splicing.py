"""The ceiling, `bench.splicing PORT FILE`: the pages that Kith answered, spliced anew for every request.

It does what a page costs when nothing has to be looked up: each status is put together from its kept body, its
counts, the viewer's flags and its author, and one page follows the other as one member does the other. There is no
database, nobody is recognised, nothing is counted or logged.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import msgspec
import uvloop

from bench.bare import App, app_of, serve

COUNTS = ("replies_count", "reblogs_count", "favourites_count", "quotes_count")
FLAGS = ("favourited", "reblogged", "muted", "bookmarked")
PEOPLES = ("statuses_count", "followers_count", "following_count", "last_status_at")

_encode = msgspec.json.encode


class Line(msgspec.Struct):
    """One status of one viewer's page: where its pieces are kept, and what goes between them."""

    body: bytes
    counts: tuple[int, ...]
    person: bytes
    peoples: tuple[Any, ...]
    boosted: Line | None


class Pieces:
    """What was made once of statuses and people, by their ids."""

    def __init__(self) -> None:
        self.kept: dict[bytes, bytes] = {}

    def line(self, status: dict[str, Any], marks: set[tuple[str, bytes]]) -> Line:
        person, boosted = status.pop("account"), status.pop("reblog")
        counts = tuple(status.pop(name) for name in COUNTS)
        peoples = (*(person.pop(name) for name in PEOPLES[:3]), _encode(person.pop(PEOPLES[3])))
        key, person_key = f"s{status['id']}".encode(), f"p{person['id']}".encode()
        marks.update((name, key) for name in FLAGS if status.pop(name, False))
        self.kept[key], self.kept[person_key] = _encode(status)[:-1], _encode(person)[:-1]
        return Line(key, counts, person_key, peoples, None if boosted is None else self.line(boosted, marks))

    def splice(self, line: Line, marks: set[tuple[str, bytes]]) -> bytes:
        key, kept = line.body, self.kept
        return (
            b'%b,"replies_count":%d,"reblogs_count":%d,"favourites_count":%d,"quotes_count":%d,"favourited":%b,'
            b'"reblogged":%b,"muted":%b,"bookmarked":%b,"reblog":%b,"account":%b,"statuses_count":%d,'
            b'"followers_count":%d,"following_count":%d,"last_status_at":%b}}'
            % (
                kept[key], *line.counts, *[b"true" if (name, key) in marks else b"false" for name in FLAGS],
                b"null" if line.boosted is None else self.splice(line.boosted, marks), kept[line.person],
                *line.peoples,
            )
        )  # fmt: skip


def pages(file: Path) -> App:
    pieces = Pieces()
    made: list[tuple[list[Line], set[tuple[str, bytes]]]] = []
    for page in msgspec.json.decode(file.read_bytes(), type=list[list[dict[str, Any]]]):
        marks: set[tuple[str, bytes]] = set()
        made.append(([pieces.line(status, marks) for status in page], marks))
    turns = itertools.cycle(made)

    def answer() -> bytes:
        lines, marks = next(turns)
        return b"[%b]" % b",".join([pieces.splice(line, marks) for line in lines])

    return app_of(answer, b"application/json; charset=utf-8")


if __name__ == "__main__":
    uvloop.run(serve(pages(Path(sys.argv[2])), int(sys.argv[1])))
