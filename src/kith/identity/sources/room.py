"""Other places that people sign in with."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.identity.sources.sign_in import RegisteredSources
from kith.identity.stages.sign_in_sources import SignInSources

ROOM = Room(
    name="sources",
    parts=(Part(RegisteredSources, lambda _: RegisteredSources(), also=(SignInSources,)),),
)
