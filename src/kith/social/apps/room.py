"""The doors for programs."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.base.routing import for_entering
from kith.social.apps import api, oauth
from kith.social.errors import DIALECT

ROOM = Room(
    name="apps",
    dialect=DIALECT,
    routes=(*api.routes, *for_entering(oauth.routes)),
)
