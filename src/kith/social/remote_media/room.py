"""Attachments of posts from elsewhere, fetched when they are looked at."""

from __future__ import annotations

from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.social.admission.facts import ServerBlockChanged
from kith.social.files.api import DIALECT
from kith.social.files.fetched import FetchedFiles
from kith.social.remote_media import api, budget, rejecting, service
from kith.social.remote_media.looks import Looks

ROOM = Room(
    name="mirror",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(service.FETCH, budget.KEEP_BUDGET, rejecting.BEGIN, rejecting.REJECT),
    subscriptions=((ServerBlockChanged, rejecting.BEGIN),),
    periodic=(Periodic(kind=budget.KEEP_BUDGET, every=budget.EVERY, payload=budget.KeepBudget()),),
    parts=(
        Part(service.Arrivals, lambda _: service.Arrivals()),
        Part(Looks, lambda _: Looks(), also=(FetchedFiles,)),
    ),
)
