"""The verbs of moving: naming one's other accounts, and leaving for one of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from kith.base.clocks import is_recent
from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts import store as accounts
from kith.social.accounts.directory import Directory
from kith.social.accounts.facts import AccountChanged, AccountMoved
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.moving.tasks import TAKE_ALONG, TakeAlong

__all__ = ["COOLDOWN", "MOST_ALIASES", "come_back", "move_out", "record_move", "set_aliases"]

COOLDOWN = timedelta(days=30)
MOST_ALIASES = 20
ALIASES, TARGET, PASSWORD = "also_known_as_uris", "moved_to_uri", "password"
NOT_FOUND = Complaint("could not be found", "not_found")
ITSELF = Complaint("cannot be current account", "self")


async def set_aliases(work: Work, account: Account, given: Sequence[str]) -> Account:
    """All other accounts that are this person, by address or handle: only to one that is named here, and from one
    that names this one, people are taken along. Nothing is written before all of them were found."""
    texts = list(dict.fromkeys(text.strip() for text in given if text.strip()))
    if len(texts) > MOST_ALIASES:
        words = f"has too many entries (maximum is {MOST_ALIASES})"
        raise Invalid(fields={ALIASES: [Complaint(words, "too_many")]})
    uris = [text if text in account.also_known_as else await _alias(work, account, text) for text in texts]
    await work.db.hold(f"account:{account.id}")
    now = await _standing(work, account.id)
    wanted = list(dict.fromkeys(uris))
    if now.also_known_as != wanted:
        await accounts.change(work.db, now.id, {"also_known_as": wanted}, work.now)
        work.announce(AccountChanged(account_id=now.id))
    return await _standing(work, account.id)


async def _alias(work: Work, account: Account, text: str) -> str:
    found = await _find(work, text, ALIASES)
    if found.id == account.id:
        raise Invalid(fields={ALIASES: [ITSELF]})
    return found.uri


async def _find(work: Work, text: str, field: str) -> Account:
    found = await work.find(Directory).find_at(work, text)  # type: ignore[type-abstract]
    if found is None or found.is_gone or not found.is_listed:
        raise Invalid(fields={field: [NOT_FOUND]})
    return found


async def move_out(work: Work, account: Account, *, uri: str, password: str) -> Account:
    """Everybody who follows here is asked to follow there instead. What was posted stays."""
    _refuse_so_soon(work, account)
    if not uri.strip():
        raise Invalid(fields={TARGET: [Complaint("can't be blank", "blank")]})
    if account.user_id is None or not await identity.is_password(work, account.user_id, password):
        raise Invalid(fields={PASSWORD: [Complaint("is invalid", "wrong_password")]})
    target = await _find(work, uri.strip(), TARGET)
    _check(account, target)
    await work.db.hold(f"account:{account.id}")
    now = await _standing(work, account.id)
    if not now.may_act:
        raise NotFound
    _refuse_so_soon(work, now)  # they may have moved, and come back, while the other server was asked
    await record_move(work, now, target)
    return await _standing(work, account.id)


def _refuse_so_soon(work: Work, account: Account) -> None:
    if account.moved_at is not None and is_recent(account.moved_at, work.now, COOLDOWN):
        words = f"You have moved recently. You can move again {COOLDOWN.days} days after that."
        raise Invalid(fields={"": [Complaint(words, "on_cooldown")]})


def _check(account: Account, target: Account) -> None:
    if target.id == account.id:
        raise Invalid(fields={TARGET: [ITSELF]})
    if target.moved_to is not None:
        raise Invalid(fields={TARGET: [Complaint("has moved to another account itself", "moved")]})
    if account.uri not in target.also_known_as:
        raise Invalid(fields={TARGET: [Complaint("is not referencing this account as an alias", "missing_alias")]})


async def record_move(work: Work, source: Account, target: Account) -> None:
    """From now on it is shown where somebody is, and whoever has to do with them here goes along."""
    changed: dict[str, Any] = {"moved_to": target.id}
    if source.is_local:
        changed["moved_at"] = work.now
        work.announce(AccountMoved(account_id=source.id, target_id=target.id))
    await accounts.change(work.db, source.id, changed, work.now)
    work.announce(AccountChanged(account_id=source.id))
    work.enqueue(TAKE_ALONG, TakeAlong(source_id=source.id, target_id=target.id), key=f"{source.id}:{target.id}")


async def come_back(work: Work, account: Account) -> None:
    """What is shown of the move ends; those who have gone along stay where they are."""
    if account.moved_to is None:
        return
    await accounts.change(work.db, account.id, {"moved_to": None}, work.now)
    work.announce(AccountChanged(account_id=account.id))


async def _standing(work: Work, account_id: AccountId) -> Account:
    found = await accounts.find(work.db, account_id)
    if found is None:
        raise NotFound
    return found
