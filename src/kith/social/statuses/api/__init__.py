"""The routes of this room."""

from __future__ import annotations

from kith.social.statuses.api import marking, planning, posting, quoting, reading

routes = [*posting.routes, *reading.routes, *marking.routes, *quoting.routes, *planning.routes]
