"""What the two versions of the list of accounts can be asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kith.base.errors import Invalid
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.admin.store import STATES, AccountQuery
from kith.social.ids import AccountId, UserId
from kith.social.pages import numbers
from kith.social.roles import store as roles

FLAGS = ("local", "remote", *STATES, "staff")


class UnknownStatus(Invalid):
    def __init__(self, status: str) -> None:
        super().__init__(f"Unknown status: {status[:100]}")


def by_flags(flags: Sequence[str], **texts: Any) -> AccountQuery:
    """Version 1. Without any flag about where and how they are: those who live here and are active."""
    chosen = frozenset(flags)
    where = chosen & {"local", "remote"}
    states = chosen & set(STATES)
    if not where:
        chosen |= {"local"}
    elif len(where) == 2:
        chosen -= where
    if not states:
        chosen |= {"active"}
    return AccountQuery(flags=chosen, **texts)


async def by_words(
    work: Work, *, origin: str, status: str, permissions: str, role_ids: Sequence[int] | None, invited_by: str,
    **texts: Any,
) -> AccountQuery:  # fmt: skip
    """Version 2. `invited_by` is an account; whoever invited nobody finds nobody."""
    if status and status not in STATES:
        raise UnknownStatus(status)
    flags = {status} if status else set()
    flags |= {origin} & {"local", "remote"}
    if permissions == "staff":
        flags.add("staff")
    inviter = await _inviter(work, invited_by) if invited_by else None
    if invited_by and inviter is None:
        flags.add("nobody")
    wanted = AccountQuery(flags=frozenset(flags), invited_by=inviter, **texts)
    if role_ids:
        known = await roles.load(work.db)
        wanted.role_ids = list(role_ids)
        found = [known.find(id) for id in role_ids]
        wanted.bases = [role.base for role in found if role is not None and role.is_shipped]
    return wanted


async def _inviter(work: Work, text: str) -> UserId | None:
    account = None
    for id in numbers([text]):
        account = await accounts.find(work.db, AccountId(id))
    return None if account is None else account.user_id
