"""Brands."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.identity.brands.service import Brands
from kith.identity.server_names import ServerNames

ROOM = Room(name="brands", parts=(Part(Brands, Brands, also=(ServerNames,)),))
