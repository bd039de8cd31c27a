"""The OAuth engine."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.base.routing import for_entering
from kith.identity.applications.service import ApplicationClosed
from kith.identity.consents.asking_clients import AskingClients
from kith.identity.consents.service import ConsentWithdrawn
from kith.identity.crypto.facts import KeyPairDeleted
from kith.identity.memberships.facts import MembershipEnded
from kith.identity.providers.oauth2 import api
from kith.identity.providers.oauth2.authorize.request_objects import RequestDocuments
from kith.identity.providers.oauth2.clients.client import OAuthAskingClients
from kith.identity.providers.oauth2.consent import authorized_clients
from kith.identity.providers.oauth2.errors import DIALECT
from kith.identity.providers.oauth2.keys import server_keys, signing
from kith.identity.providers.oauth2.keys.client_keys import ClientKeys
from kith.identity.providers.oauth2.keys.parsed_keys import KeyRing
from kith.identity.providers.oauth2.logout import back_channel, front_channel, lost_access, propagation
from kith.identity.providers.oauth2.registration import departures
from kith.identity.rest.facts import AccessChanged
from kith.identity.sessions.service import SessionEnded, SessionRenewed
from kith.identity.tokens.facts import TokenEnded
from kith.identity.users.service import UserBarred, UserChanged, UserDeleted

ROOM = Room(
    name="oauth2",
    dialect=DIALECT,
    routes=(*for_entering(api.entering), *api.routes),
    jobs=(
        server_keys.ROTATE,
        propagation.SESSION_ENDED,
        propagation.SESSION_RENEWED,
        propagation.USER_CHANGED,
        propagation.USER_BARRED,
        propagation.USER_DELETED,
        propagation.APPLICATION_CLOSED,
        authorized_clients.CONSENT_WITHDRAWN,  # asked for by earlier versions
        lost_access.ACCESS_CHANGED,
        lost_access.PERSON_CHANGED,
        lost_access.GROUP_LEFT,
        lost_access.RECHECK,
        departures.REGISTRAR_DELETED,
        propagation.LOOK,
        back_channel.BACK_CHANNEL,
        front_channel.WITHOUT_BROWSER,
    ),
    periodic=(
        Periodic(kind=server_keys.ROTATE, every=timedelta(hours=6), payload=server_keys.Rotate()),
        Periodic(kind=propagation.LOOK, every=timedelta(minutes=1), payload=propagation.SessionSweep()),
    ),
    subscriptions=(
        (SessionEnded, propagation.SESSION_ENDED),
        (SessionRenewed, propagation.SESSION_RENEWED),
        (UserChanged, propagation.USER_CHANGED),
        (UserChanged, lost_access.PERSON_CHANGED),
        (MembershipEnded, lost_access.GROUP_LEFT),
        (UserBarred, propagation.USER_BARRED),
        (UserDeleted, propagation.USER_DELETED),
        (UserDeleted, departures.REGISTRAR_DELETED),
        (ApplicationClosed, propagation.APPLICATION_CLOSED),
        (AccessChanged, lost_access.ACCESS_CHANGED),
    ),
    at_once=(
        (TokenEnded, propagation.token_ended),
        (UserChanged, propagation.password_changed),
        (UserBarred, propagation.barred_now),
        (KeyPairDeleted, signing.pair_deleted),
        (ConsentWithdrawn, authorized_clients.consent_withdrawn),
    ),
    parts=(
        Part(KeyRing, lambda _: KeyRing()),
        Part(ClientKeys, lambda _: ClientKeys()),
        Part(RequestDocuments, lambda _: RequestDocuments()),
        Part(AskingClients, lambda _: OAuthAskingClients()),
    ),
)
