"""The routes of this room, and the ways past the framework."""

from __future__ import annotations

from kith.social.statuses.api import marking, planning, posting, quoting, reading

routes = [*posting.routes, *reading.routes, *marking.routes, *quoting.routes, *planning.routes]
ways = reading.ways
