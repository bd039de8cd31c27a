"""Attachments of posts from elsewhere, fetched when they are looked at."""

from __future__ import annotations

from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.social.admission.facts import ServerAllowChanged, ServerBlockChanged
from kith.social.emojis.remote_files import EmojiArrivals
from kith.social.files.api import DIALECT
from kith.social.files.fetched import FetchedFiles
from kith.social.moderation.facts import AccountSuspended
from kith.social.remote_media import api, budget, rejecting, service, suspended
from kith.social.remote_media.looks import Looks

ROOM = Room(
    name="mirror",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(
        service.FETCH,
        budget.KEEP_BUDGET,
        rejecting.BEGIN,
        rejecting.BEGIN_ALLOWED,
        rejecting.REJECT,
        suspended.DROP,
    ),
    subscriptions=(
        (ServerBlockChanged, rejecting.BEGIN),
        (ServerAllowChanged, rejecting.BEGIN_ALLOWED),
        (AccountSuspended, suspended.DROP),
    ),
    periodic=(Periodic(kind=budget.KEEP_BUDGET, every=budget.EVERY, payload=budget.KeepBudget()),),
    parts=(
        Part(service.Arrivals, lambda _: service.Arrivals()),
        Part(EmojiArrivals, lambda _: EmojiArrivals()),
        Part(Looks, lambda _: Looks(), also=(FetchedFiles,)),
    ),
)
