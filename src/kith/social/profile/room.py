"""One's own profile."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.social.errors import DIALECT
from kith.social.profile import api
from kith.social.profile.credentials import OwnAccounts

ROOM = Room(
    name="profile",
    dialect=DIALECT,
    routes=tuple(api.routes),
    parts=(Part(OwnAccounts, lambda _: OwnAccounts()),),
)
