"""The SAML identity provider. Its pages are in the web room."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Room
from kith.identity.applications.service import ApplicationClosed
from kith.identity.errors import DIALECT
from kith.identity.memberships.facts import MembershipEnded
from kith.identity.providers.saml.logout import back_channel, propagation
from kith.identity.rest.facts import AccessChanged
from kith.identity.sessions.service import SessionEnded, SessionRenewed
from kith.identity.users.service import UserBarred, UserChanged, UserDeleted

ROOM = Room(
    name="saml",
    dialect=DIALECT,
    jobs=(
        propagation.SESSION_ENDED,
        propagation.SESSION_RENEWED,
        propagation.USER_BARRED,
        propagation.USER_DELETED,
        propagation.USER_CHANGED,
        propagation.GROUP_LEFT,
        propagation.APPLICATION_CLOSED,
        propagation.ACCESS_CHANGED,
        propagation.RECHECK,
        propagation.LOOK,
        back_channel.BACK_CHANNEL,
        back_channel.WITHOUT_BROWSER,
    ),
    periodic=(Periodic(kind=propagation.LOOK, every=timedelta(minutes=1), payload=propagation.SAMLSessionSweep()),),
    subscriptions=(
        (SessionEnded, propagation.SESSION_ENDED),
        (SessionRenewed, propagation.SESSION_RENEWED),
        (MembershipEnded, propagation.GROUP_LEFT),
        (UserBarred, propagation.USER_BARRED),
        (UserDeleted, propagation.USER_DELETED),
        (UserChanged, propagation.USER_CHANGED),
        (ApplicationClosed, propagation.APPLICATION_CLOSED),
        (AccessChanged, propagation.ACCESS_CHANGED),
    ),
)
