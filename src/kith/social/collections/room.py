"""Collections: accounts that somebody shows together."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.social.accounts.facts import AccountDeleted
from kith.social.collections import api, tasks
from kith.social.collections.entities import ToldCollections
from kith.social.collections.facts import AddedToCollection, CollectionChanged
from kith.social.errors import DIALECT
from kith.social.notifications.subjects import CollectionSubjects
from kith.social.relationships.facts import Blocked

ROOM = Room(
    name="collections",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(tasks.FORGET_ACCOUNT, tasks.TELL_OF_ADDING, tasks.TELL_OF_CHANGE),
    subscriptions=(
        (AccountDeleted, tasks.FORGET_ACCOUNT),
        (AddedToCollection, tasks.TELL_OF_ADDING),
        (CollectionChanged, tasks.TELL_OF_CHANGE),
    ),
    parts=(Part(CollectionSubjects, lambda _: ToldCollections()),),
    at_once=((Blocked, tasks.part),),
)
