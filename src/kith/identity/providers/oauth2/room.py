"""The OAuth engine."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.identity.consents.service import ConsentWithdrawn
from kith.identity.providers.oauth2 import api, granted, keys, logout
from kith.identity.providers.oauth2.errors import DIALECT
from kith.identity.providers.oauth2.keys import KeyRing
from kith.identity.sessions.service import SessionEnded, SessionRenewed
from kith.identity.users.service import UserChanged

ROOM = Room(
    name="oauth2",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(
        keys.ROTATE,
        logout.SESSION_ENDED,
        logout.SESSION_RENEWED,
        logout.USER_CHANGED,
        granted.CONSENT_WITHDRAWN,
        logout.LOOK,
        logout.BACK_CHANNEL,
    ),
    periodic=(
        Periodic(kind=keys.ROTATE, every=timedelta(hours=6), payload=keys.Rotate()),
        Periodic(kind=logout.LOOK, every=timedelta(minutes=1), payload=logout.Look()),
    ),
    subscriptions=(
        (SessionEnded, logout.SESSION_ENDED),
        (SessionRenewed, logout.SESSION_RENEWED),
        (ConsentWithdrawn, granted.CONSENT_WITHDRAWN),
        (UserChanged, logout.USER_CHANGED),
    ),
    parts=(Part(KeyRing, lambda _: KeyRing()),),
)
