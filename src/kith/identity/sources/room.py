"""Other places that people sign in with."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.identity.scim.errors import DIALECT as SCIM_DIALECT
from kith.identity.sources.ldap import tasks
from kith.identity.sources.ldap.directory import Directories
from kith.identity.sources.saml import transients
from kith.identity.sources.scim import api as scim
from kith.identity.sources.sign_in import RegisteredSources
from kith.identity.stages.sign_in_sources import SignInSources
from kith.identity.users.password_copies import PasswordCopies

ROOM = Room(
    name="sources",
    dialect=SCIM_DIALECT,
    routes=scim.routes,
    jobs=(tasks.SYNC, tasks.SYNC_ALL, transients.SWEEP),
    periodic=(
        tasks.PERIODIC,
        Periodic(kind=transients.SWEEP, every=timedelta(minutes=1), payload=transients.TransientSweep()),
    ),
    parts=(
        Part(RegisteredSources, lambda _: RegisteredSources(), also=(SignInSources, PasswordCopies)),
        Part(Directories, lambda _: Directories(), close=Directories.close),
    ),
)
