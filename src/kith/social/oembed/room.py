"""Posts embedded in other sites."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.errors import DIALECT
from kith.social.oembed import api

ROOM = Room(name="oembed", dialect=DIALECT, routes=tuple(api.routes))
