"""The second baseline, `bench.encoding PORT FILE`: a list that Kith answered, encoded anew for each request."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import uvloop

from bench.bare import App, app_of, serve
from kith.base.paging import Envelope


def records(file: Path) -> App:
    listed = msgspec.json.decode(file.read_bytes(), type=Envelope[dict[str, object]])
    encode = msgspec.json.Encoder().encode
    return app_of(lambda: encode(listed), b"application/json")


if __name__ == "__main__":
    uvloop.run(serve(records(Path(sys.argv[2])), int(sys.argv[1])))
