"""Moving from one account to another."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.errors import DIALECT
from kith.social.moving import api, tasks

ROOM = Room(name="moving", dialect=DIALECT, routes=tuple(api.routes), jobs=(tasks.TAKE_ALONG,))
