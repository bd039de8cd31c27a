"""Filters."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.social.errors import DIALECT
from kith.social.filters import api
from kith.social.filters.viewers import CompiledFilters
from kith.social.statuses.filtering import ViewerFilters

ROOM = Room(
    name="filters",
    dialect=DIALECT,
    routes=tuple(api.routes),
    parts=(Part(ViewerFilters, lambda _: CompiledFilters()),),
)
