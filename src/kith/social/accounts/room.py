"""Accounts, local and from elsewhere."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.identity import for_social as identity
from kith.social.account_standing import Standing
from kith.social.accounts import api, deletion, pictures, tasks, verification
from kith.social.accounts.directory import Directory, NoDirectory
from kith.social.accounts.entities import AccountPieces, WholeAccounts
from kith.social.accounts.portraits import Portraits
from kith.social.accounts.remote_pictures import RemotePictures
from kith.social.accounts.user_accounts import UserAccounts
from kith.social.errors import DIALECT
from kith.social.guards import Presence

ROOM = Room(
    name="accounts",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(tasks.KEEP_UP, verification.VERIFY_LINKS, pictures.FORGET_FILES, deletion.PART),
    periodic=(Periodic(kind=deletion.PART, every=timedelta(hours=1), payload=deletion.DeleteAccounts()),),
    subscriptions=(
        (identity.UserCreated, tasks.KEEP_UP),
        (identity.UserChanged, tasks.KEEP_UP),
        (identity.UserDeleted, deletion.PART),
    ),
    parts=(
        Part(UserAccounts, lambda _: UserAccounts(), also=(Standing, identity.Admission)),
        Part(Presence, lambda _: Presence()),
        Part(AccountPieces, lambda _: AccountPieces()),
        Part(WholeAccounts, lambda _: WholeAccounts()),
        Part(identity.Pictures, lambda _: Portraits()),
        Part(RemotePictures, lambda _: RemotePictures()),
        Part(Directory, lambda _: NoDirectory()),
    ),
    at_once=((identity.UserDeleted, deletion.part),),
)
