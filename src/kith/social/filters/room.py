"""Filters."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.errors import DIALECT
from kith.social.filters import api

ROOM = Room(name="filters", dialect=DIALECT, routes=tuple(api.routes))
