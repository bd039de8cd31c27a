"""Order in the house: reports, warnings and what the team does about them."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.social.accounts.facts import AccountWelcomed
from kith.social.errors import DIALECT
from kith.social.moderation import api, tasks
from kith.social.moderation.entities import ModerationSubjects
from kith.social.notifications.subjects import Subjects

ROOM = Room(
    name="moderation",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(tasks.TELL_OF_SIGN_UP,),
    subscriptions=((AccountWelcomed, tasks.TELL_OF_SIGN_UP),),
    parts=(Part(Subjects, lambda _: ModerationSubjects()),),
)
