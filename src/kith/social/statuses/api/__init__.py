"""The routes of this room."""

from __future__ import annotations

from kith.social.statuses.api import marking, posting, quoting, reading, scheduled

routes = [*posting.routes, *reading.routes, *marking.routes, *quoting.routes, *scheduled.routes]
