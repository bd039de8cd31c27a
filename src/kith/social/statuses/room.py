"""Posts, with their polls, cards and plans."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.social.accounts.facts import AccountChanged, AccountDeleted, AccountSensitized
from kith.social.errors import DIALECT
from kith.social.statuses import api, purging, tasks
from kith.social.statuses.bodies import StatusPieces
from kith.social.statuses.cards import service as cards
from kith.social.statuses.entities import StatusLines
from kith.social.statuses.facts import StatusDeleted, StatusEdited
from kith.social.statuses.pages import StatusPages
from kith.social.statuses.remote_posts import NoRemotePosts, RemotePosts
from kith.social.statuses.service import remove, schedule
from kith.social.webpages.reading import Webpages

ROOM = Room(
    name="statuses",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(
        schedule.PUBLISH,
        tasks.FOLLOW_UP,
        tasks.LOOK_AGAIN,
        cards.FETCH,
        cards.CREDIT,
        cards.SHOW_CREDITS,
        tasks.CLEAR_UP,
        tasks.END_POLLS,
        tasks.SWEEP,
        tasks.SHOW_ANEW,
        purging.LEAVE,
        purging.GO_ALONG,
        purging.PURGE,
        remove.DROP_FILES,
    ),
    periodic=(
        Periodic(kind=tasks.END_POLLS, every=timedelta(minutes=1), payload=tasks.EndPolls()),
        Periodic(kind=tasks.SWEEP, every=timedelta(hours=1), payload=tasks.SweepStatuses()),
        Periodic(kind=purging.PURGE, every=timedelta(hours=1), payload=purging.Purge()),
    ),
    at_once=((AccountSensitized, tasks.begin_to_show_anew),),
    subscriptions=(
        (AccountDeleted, purging.LEAVE),
        (StatusDeleted, tasks.CLEAR_UP),
        (StatusEdited, tasks.LOOK_AGAIN),
        (AccountChanged, cards.CREDIT),
    ),
    parts=(
        Part(Webpages, lambda _: Webpages()),
        Part(StatusPieces, lambda _: StatusPieces()),
        Part(StatusLines, lambda _: StatusLines()),
        Part(StatusPages, lambda _: StatusPages()),
        Part(RemotePosts, lambda _: NoRemotePosts()),
    ),
)
