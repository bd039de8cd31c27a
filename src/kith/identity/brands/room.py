"""Brands."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.identity.brands import api
from kith.identity.brands.service import Brands
from kith.identity.errors import DIALECT
from kith.identity.server_names import ServerNames

ROOM = Room(
    name="brands", dialect=DIALECT, routes=tuple(api.routes), parts=(Part(Brands, Brands, also=(ServerNames,)),)
)
