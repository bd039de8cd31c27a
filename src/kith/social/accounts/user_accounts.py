"""A person's face: their account, made when it is first needed, for whoever lives here."""

from __future__ import annotations

import re
from typing import Any

from kith.base.caches import ByVersion, ForAWhile
from kith.base.db import Taken
from kith.base.errors import NotFound
from kith.base.unicode import normal_form
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts import store
from kith.social.accounts.facts import AccountChanged, AccountMade, AccountWelcomed
from kith.social.accounts.new_rows import new_account
from kith.social.accounts.tables import Account
from kith.social.addresses import actor_uri, profile_url
from kith.social.ids import AccountId, UserId

LONGEST_NAME = 30
BELIEVED_SECONDS = 2.0
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_]+")


class UserAccounts:
    """Which account is whose: it never changes, so what was found once stays true.

    And whether it may act, which the guards ask with every request: whoever may is believed for a moment, whoever
    may not is looked up each time, so that they are back at once.
    """

    def __init__(self) -> None:
        self._known: ByVersion[AccountId] = ByVersion("accounts_of_users", 16 << 20)
        self._believed: ForAWhile[bool] = ForAWhile("may_act", seconds=BELIEVED_SECONDS, most=50_000)

    async def may_act(self, work: Work, user_id: UserId, kept: dict[type, Any] | None = None) -> bool:
        """Somebody without an account will get one that may."""
        if self._believed.get(user_id):
            return True
        account = await store.find_of_user(work.db, user_id)
        if account is not None:
            self._known.put(user_id, account.id, 0)
            if kept is not None:
                kept[Account] = account
            if not account.may_act:
                return False
        self._believed.put(user_id, True)
        return True

    async def may_sign_in(self, work: Work, user_id: UserId) -> bool:
        """Whoever moved away or was shut out may still look after what is theirs; nobody speaks for the dead."""
        account = await store.find_of_user(work.db, user_id)
        return account is None or not account.memorial

    async def id_of(self, work: Work, user_id: UserId) -> AccountId:
        known = self._known.get(user_id)
        if known is None:
            known = (await of_user(work, user_id)).id
            self._known.put(user_id, known, 0)
        return known


async def id_of(work: Work, user_id: UserId) -> AccountId:
    return await work.find(UserAccounts).id_of(work, user_id)


async def of_user(work: Work, user_id: UserId) -> Account:
    """Their account. Where there is none it is made beside this work, and whoever comes second finds it."""
    found = await store.find_of_user(work.db, user_id)
    if found is not None:
        return found
    async with work.aside() as aside:
        await make(aside, user_id)
    found = await store.find_of_user(work.db, user_id)
    if found is None:
        raise NotFound
    return found


async def make(work: Work, user_id: UserId) -> None:
    """Idempotent: two who make it at once make it once."""
    person = await identity.find_person(work, user_id)
    if person is None or await store.find_of_user(work.db, user_id) is not None:
        return
    await work.db.begin()
    account = _new_account(work, user_id, person, await _free_name(work, person.username))
    try:
        async with work.db.savepoint():
            await store.insert(work.db, account)
    except Taken:
        return  # somebody was quicker
    work.announce(AccountChanged(account_id=account.id))
    work.announce(AccountMade(account_id=account.id))
    if account.is_listed:
        work.announce(AccountWelcomed(account_id=account.id))


def _new_account(work: Work, user_id: UserId, person: identity.PersonFacts, name: str) -> Account:
    return new_account(
        AccountId(work.new_id()),
        username=name,
        domain="",
        uri=actor_uri(work.settings, name),
        url=profile_url(work.settings, name),
        now=work.now,
        user_id=user_id,
        display_name=person.name if person.name != person.username else "",
        role=person.role,
        is_listed=person.is_welcome,
        created_at=person.created_at,
    )


async def _free_name(work: Work, username: str) -> str:
    """Names here are plain; a longer or richer one becomes what is left of it, with a number if need be."""
    plain = normal_form("NFKD", username).encode("ascii", "ignore").decode()
    name = _NOT_A_NAME.sub("_", plain).strip("_")[:LONGEST_NAME] or "member"
    taken = await store.names_beginning(work.db, name[: LONGEST_NAME - 6].lower())
    if name.lower() not in taken:
        return name
    for number in range(2, len(taken) + 3):
        numbered = f"{name[: LONGEST_NAME - 6]}_{number}"
        if numbered.lower() not in taken:
            return numbered
    raise NotFound


async def keep_up(work: Work, user_id: UserId) -> None:
    """What is shown of a person's standing follows their record: role, and whether others may see them."""
    person = await identity.find_person(work, user_id)
    account = await store.find_of_user(work.db, user_id)
    if person is None:
        return
    if account is None:
        await make(work, user_id)
        return
    changed: dict[str, Any] = {
        name: value
        for name, value in (("role", person.role), ("is_listed", person.is_welcome or account.is_listed))
        if getattr(account, name) != value
    }
    if "role" in changed:
        changed["role_id"] = None  # a role given here says what the record says; this one was given there
    if changed:
        await store.change(work.db, account.id, changed, work.now)
        work.announce(AccountChanged(account_id=account.id))
    if "is_listed" in changed:
        work.announce(AccountWelcomed(account_id=account.id))
