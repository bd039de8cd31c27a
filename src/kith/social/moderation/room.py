"""Order in the house: reports, warnings and what the team does about them."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.social.accounts.facts import AccountWelcomed
from kith.social.errors import DIALECT
from kith.social.files.withheld import Withheld
from kith.social.moderation import api, severed_api, severing, tasks
from kith.social.moderation.entities import ModerationSubjects
from kith.social.moderation.withheld import InOpenReports, OfSuspended
from kith.social.notifications.subjects import Subjects
from kith.social.relationships.facts import FollowsLost
from kith.social.statuses.purging import Held

ROOM = Room(
    name="moderation",
    dialect=DIALECT,
    routes=(*api.routes, *severed_api.routes),
    jobs=(tasks.TELL_OF_SIGN_UP, tasks.DELETE_DATA, tasks.WATCH_TEAM, severing.SEVER, severing.TELL_OF_DOMAIN),
    periodic=(
        Periodic(kind=tasks.DELETE_DATA, every=timedelta(hours=1), payload=tasks.DeleteData()),
        Periodic(kind=tasks.WATCH_TEAM, every=timedelta(hours=1), payload=tasks.WatchTeam()),
    ),
    subscriptions=((AccountWelcomed, tasks.TELL_OF_SIGN_UP), (FollowsLost, severing.TELL_OF_DOMAIN)),
    parts=(
        Part(Subjects, lambda _: ModerationSubjects()),
        Part(Withheld, lambda _: OfSuspended()),
        Part(Held, lambda _: InOpenReports()),
    ),
)
