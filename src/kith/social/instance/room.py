"""What the server says of itself."""

from __future__ import annotations

from datetime import timedelta

from kith.base.caches import UntilWritten
from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.base.stored_settings import SettingsChanged
from kith.base.work import Works
from kith.social.errors import DIALECT
from kith.social.guards import MemberSeen
from kith.social.instance import api, tasks
from kith.social.instance.kept_answers import KeptAnswers


def _kept_answers(works: Works) -> KeptAnswers:
    made = KeptAnswers(works.services[UntilWritten])
    works.news.listen(SettingsChanged, made.forget)
    return made


ROOM = Room(
    name="instance",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(tasks.COUNT, tasks.NOTE_PRESENCE, tasks.FORGET),
    periodic=(Periodic(kind=tasks.FORGET, every=timedelta(days=1), payload=tasks.ForgetOldDays()),),
    subscriptions=((MemberSeen, tasks.NOTE_PRESENCE),),
    parts=(Part(KeptAnswers, _kept_answers),),
)
