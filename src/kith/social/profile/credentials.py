"""What apps ask for whenever they are opened: whose token they have. Kept by all that is shown of one's own account."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, select

from kith.base.caches import ByVersion, UntilWritten
from kith.base.db import query
from kith.base.errors import Forbidden
from kith.base.work import Work
from kith.social.accounts.entities import is_kept
from kith.social.accounts.tables import accounts, preferences
from kith.social.accounts.user_accounts import of_user
from kith.social.guards import DISABLED
from kith.social.ids import AccountId, UserId
from kith.social.profile.entities import render_own
from kith.social.relationships.store import requests_to

MOST_BYTES = 4 << 20


class OwnRow(NamedTuple):
    """An account's version, its owner's preferences as far as they are shown, and how many ask to follow it."""

    id: AccountId
    version: int
    privacy: str | None
    sensitive: bool | None
    language: str | None
    quote_policy: str | None
    requests: int


_row = query(
    select(
        accounts.c.id,
        accounts.c.version,
        preferences.c.privacy,
        preferences.c.sensitive,
        preferences.c.language,
        preferences.c.quote_policy,
        requests_to(accounts.c.id).label("requests"),
    )
    .select_from(accounts.outerjoin(preferences, preferences.c.account_id == accounts.c.id))
    .where(accounts.c.user_id == bindparam("user")),
    OwnRow,
    wire=True,
)


class OwnAccounts(ByVersion[bytes]):
    """CredentialAccounts of whoever may act, by their rows."""

    def __init__(self) -> None:
        super().__init__("own_accounts", MOST_BYTES)


async def render(work: Work, user_id: UserId) -> bytes:
    """CredentialAccount of somebody who may act."""
    row = await _own_row(work, user_id)
    kept = work.find(OwnAccounts)
    found = None if row is None else kept.get(row)
    if found is not None:
        return found
    account = await of_user(work, user_id)
    if not account.may_act:
        raise Forbidden(DISABLED)
    shown = await render_own(work, account)
    if row is not None and not work.db.is_writing and is_kept(work, account.id, account.version):
        kept.put(row, shown, len(shown))
    return shown


async def _own_row(work: Work, user_id: UserId) -> OwnRow | None:
    """No moment decides what is in it, so that it is kept while nobody writes."""
    kept, key = work.find(UntilWritten), ("own row", user_id)
    version = kept.now()
    found: OwnRow | None = None if version is None else kept.get(version, key)
    if found is None:
        found = await work.db.one(_row, user=user_id)
        if found is not None:
            kept.put(version, key, found)
    return found
