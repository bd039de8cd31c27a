"""Web Push: notifications sent to people's devices."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.identity.for_social import SessionBelongings
from kith.social.accounts.facts import AccountDeleted
from kith.social.errors import DIALECT
from kith.social.notifications.facts import NotificationMade
from kith.social.push import api, service, tasks
from kith.social.push.endpoints import EndpointNames
from kith.social.push.sending import Tokens
from kith.social.push.slots import Slots

ROOM = Room(
    name="push",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=tasks.KINDS,
    at_once=(
        (NotificationMade, tasks.plan),
        (AccountDeleted, service.forget_account),
    ),
    parts=(
        Part(service.SessionSubscriptions, lambda _: service.SessionSubscriptions(), also=(SessionBelongings,)),
        Part(EndpointNames, lambda _: EndpointNames()),
        Part(Tokens, lambda _: Tokens()),
        Part(Slots, lambda _: Slots()),
    ),
)
