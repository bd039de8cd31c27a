"""Attachments of posts from elsewhere, fetched when they are looked at."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.social.files.api import DIALECT
from kith.social.remote_media import api, service

ROOM = Room(
    name="mirror",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(service.FETCH,),
    parts=(Part(service.Arrivals, lambda _: service.Arrivals()),),
)
