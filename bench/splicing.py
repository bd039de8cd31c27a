"""The ceiling, `bench.splicing PORT FILE`: a page that Kith answered, joined from as many kept pieces as Kith joins."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import uvloop

from bench.bare import App, app_of, serve


def page(file: Path) -> App:
    """Each status is its body, its counts, the viewer's flags and its author, as it is in Kith."""
    pieces = [_pieces(status) for status in msgspec.json.decode(file.read_bytes(), type=list[dict[str, object]])]

    def answer() -> bytes:
        return b"[%b]" % b",".join([b"%b,%b%b,%b}" % parts for parts in pieces])

    return app_of(answer, b"application/json; charset=utf-8")


def _pieces(status: dict[str, object]) -> tuple[bytes, bytes, bytes, bytes]:
    counts = {name: status.pop(name) for name in list(status) if name.endswith("_count")}
    flags = {name: status.pop(name) for name in ("favourited", "reblogged", "muted", "bookmarked") if name in status}
    account = {"account": status.pop("account")}
    encode = msgspec.json.encode
    return encode(status)[:-1], encode(counts)[1:-1], b"," + encode(flags)[1:-1], encode(account)[1:-1]


if __name__ == "__main__":
    uvloop.run(serve(page(Path(sys.argv[2])), int(sys.argv[1])))
