"""Accounts, local and from elsewhere."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.identity import for_social as identity
from kith.social.accounts import api, leaving, pictures, tasks, verification
from kith.social.accounts.directory import Directory, NoDirectory
from kith.social.accounts.entities import AccountPieces, WholeAccounts
from kith.social.accounts.faces import Faces
from kith.social.accounts.portraits import Portraits
from kith.social.errors import DIALECT
from kith.social.guards import Presence
from kith.social.standing import Standing

ROOM = Room(
    name="accounts",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(tasks.KEEP_UP, verification.VERIFY_LINKS, pictures.FORGET_FILES, leaving.PART),
    periodic=(Periodic(kind=leaving.PART, every=timedelta(hours=1), payload=leaving.Part()),),
    subscriptions=(
        (identity.UserCreated, tasks.KEEP_UP),
        (identity.UserChanged, tasks.KEEP_UP),
        (identity.UserDeleted, leaving.PART),
    ),
    parts=(
        Part(Faces, lambda _: Faces(), also=(Standing, identity.Admission)),
        Part(Presence, lambda _: Presence()),
        Part(AccountPieces, lambda _: AccountPieces()),
        Part(WholeAccounts, lambda _: WholeAccounts()),
        Part(identity.Pictures, lambda _: Portraits()),
        Part(Directory, lambda _: NoDirectory()),
    ),
    at_once=((identity.UserDeleted, leaving.part),),
)
