"""A real server with two more routes, which keep the event loop from turning as careless code would."""

from __future__ import annotations

import re
import sys
import time

from kith import app
from kith.base.exchange import Dialect
from kith.base.routing import FromPath, get
from kith.cli import main
from kith.web.room import ASSETS

PLAIN: Dialect = ASSETS


@get("/block/{milliseconds}", dialect=PLAIN)
async def block(milliseconds: FromPath[int]) -> dict[str, str]:
    """Others run meanwhile, but the loop does not."""
    time.sleep(milliseconds / 1000)
    return {}


@get("/lock", dialect=PLAIN)
async def lock() -> dict[str, bool]:
    """Nothing of this process runs meanwhile: the expression holds the interpreter's lock for hours."""
    return {"found": re.fullmatch(r"(a|a)*b", "a" * 60) is not None}


if __name__ == "__main__":
    app.ROUTES.extend([block, lock])
    sys.exit(main())
