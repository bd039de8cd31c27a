"""Other places that people sign in with."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.identity.sources.saml import transients
from kith.identity.sources.sign_in import RegisteredSources
from kith.identity.stages.sign_in_sources import SignInSources

ROOM = Room(
    name="sources",
    jobs=(transients.SWEEP,),
    periodic=(Periodic(kind=transients.SWEEP, every=timedelta(minutes=10), payload=transients.TransientSweep()),),
    parts=(Part(RegisteredSources, lambda _: RegisteredSources(), also=(SignInSources,)),),
)
