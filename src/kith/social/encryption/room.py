"""End-to-end encrypted messages."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.identity import for_social as identity
from kith.social.encryption import api, tasks
from kith.social.encryption.elsewhere import DevicesElsewhere, NoDevicesElsewhere
from kith.social.errors import DIALECT

ROOM = Room(
    name="encryption",
    dialect=DIALECT,
    routes=tuple(api.routes),
    at_once=(
        (identity.AccessEnded, tasks.access_ended),
        (identity.UserDeleted, tasks.user_deleted),
    ),
    parts=(Part(DevicesElsewhere, lambda _: NoDevicesElsewhere()),),
)
