"""What clients wait for while a worker makes it: home feeds, annual reports, threads from elsewhere."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.async_refreshes import api
from kith.social.errors import DIALECT

ROOM = Room(name="async_refreshes", dialect=DIALECT, routes=tuple(api.routes))
