"""The social API, described for programs."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.errors import DIALECT
from kith.social.reference import api

ROOM = Room(name="reference", dialect=DIALECT, routes=tuple(api.routes))
