"""Keys of our actors."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.federation.keys import tasks
from kith.federation.keys.facts import ActorKeyRotated
from kith.federation.keys.service import ActorKeys
from kith.social.accounts.facts import AccountDeleted, AccountMade

ROOM = Room(
    name="federation keys",
    jobs=tasks.KINDS,
    subscriptions=((AccountMade, tasks.MAKE),),
    at_once=((AccountDeleted, tasks.delete_later), (ActorKeyRotated, tasks.forget_previous_later)),
    parts=(Part(ActorKeys, lambda _: ActorKeys()),),
)
