"""The OAuth engine."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.identity.applications.service import ApplicationClosed
from kith.identity.consents.service import ConsentWithdrawn
from kith.identity.providers.oauth2 import api, granted, keys, leaving, rechecking, telling
from kith.identity.providers.oauth2.errors import DIALECT
from kith.identity.providers.oauth2.keys import KeyRing
from kith.identity.rest.facts import AccessChanged
from kith.identity.sessions.service import SessionEnded, SessionRenewed
from kith.identity.users.service import UserBarred, UserChanged, UserDeleted

ROOM = Room(
    name="oauth2",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(
        keys.ROTATE,
        leaving.SESSION_ENDED,
        leaving.SESSION_RENEWED,
        leaving.USER_CHANGED,
        leaving.USER_BARRED,
        leaving.USER_DELETED,
        leaving.APPLICATION_CLOSED,
        granted.CONSENT_WITHDRAWN,
        rechecking.ACCESS_CHANGED,
        rechecking.PERSON_CHANGED,
        rechecking.RECHECK,
        leaving.LOOK,
        telling.BACK_CHANNEL,
    ),
    periodic=(
        Periodic(kind=keys.ROTATE, every=timedelta(hours=6), payload=keys.Rotate()),
        Periodic(kind=leaving.LOOK, every=timedelta(minutes=1), payload=leaving.Look()),
    ),
    subscriptions=(
        (SessionEnded, leaving.SESSION_ENDED),
        (SessionRenewed, leaving.SESSION_RENEWED),
        (ConsentWithdrawn, granted.CONSENT_WITHDRAWN),
        (UserChanged, leaving.USER_CHANGED),
        (UserChanged, rechecking.PERSON_CHANGED),
        (UserBarred, leaving.USER_BARRED),
        (UserDeleted, leaving.USER_DELETED),
        (ApplicationClosed, leaving.APPLICATION_CLOSED),
        (AccessChanged, rechecking.ACCESS_CHANGED),
    ),
    parts=(Part(KeyRing, lambda _: KeyRing()),),
)
