"""The doors for programs."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.apps import api, oauth
from kith.social.errors import DIALECT

ROOM = Room(
    name="apps",
    dialect=DIALECT,
    routes=(*api.routes, *oauth.routes),
)
