"""A device ends with its access token, and with its person."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.encryption import store


async def access_ended(work: Work, fact: identity.AccessEnded) -> None:
    for key_hash in fact.key_hashes:
        await store.drop_of_token(work.db, key_hash)


async def user_deleted(work: Work, fact: identity.UserDeleted) -> None:
    await store.drop_of_user(work.db, fact.user_id)
