"""What is done about keys without being asked: made for whoever is new, deleted after whoever is gone."""

from __future__ import annotations

import msgspec

from kith.base.errors import NotFound
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.keys import service, store
from kith.federation.keys.facts import ActorKeyRotated
from kith.social.accounts.facts import AccountDeleted, AccountMade
from kith.social.ids import AccountId


class DeleteKey(msgspec.Struct):
    """An account is gone for so long that nobody waits for its farewell any more."""

    account_id: AccountId


class ForgetPreviousKey(msgspec.Struct):
    """A key has been in use for so long that nobody needs the one before it."""

    key_id: int


async def make(work: Work, fact: AccountMade) -> None:
    """The server's own comes with the first account."""
    await service.ensure(work, None)
    try:
        await service.ensure(work, fact.account_id)
    except NotFound:
        return  # gone meanwhile


async def delete_later(work: Work, fact: AccountDeleted) -> None:
    """Other servers are told that somebody is gone in that person's name, for days if they do not answer."""
    work.enqueue(DELETE, DeleteKey(fact.account_id), at=work.now + service.FAREWELL)


async def delete(work: Work, payload: DeleteKey) -> None:
    await store.delete_of(work.db, payload.account_id)


async def forget_previous_later(work: Work, fact: ActorKeyRotated) -> None:
    key = await store.find(work.db, fact.account_id)
    if key is not None:
        work.enqueue(FORGET_PREVIOUS, ForgetPreviousKey(key.id), at=work.now + service.FAREWELL)


async def forget_previous(work: Work, payload: ForgetPreviousKey) -> None:
    await store.forget_previous(work.db, payload.key_id)


MAKE: JobKind[AccountMade] = JobKind(
    name="federation_keys.make", payload=AccountMade, handler=make, outside=True, concurrency=1, is_harmless=True
)
DELETE: JobKind[DeleteKey] = JobKind(name="federation_keys.delete", payload=DeleteKey, handler=delete, is_harmless=True)
FORGET_PREVIOUS: JobKind[ForgetPreviousKey] = JobKind(
    name="federation_keys.forget_previous", payload=ForgetPreviousKey, handler=forget_previous, is_harmless=True
)
KINDS = (MAKE, DELETE, FORGET_PREVIOUS)
