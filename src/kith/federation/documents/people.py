"""People as documents, and who of them may be asked for."""

from __future__ import annotations

from kith.base.caches import ByVersion
from kith.base.errors import Forbidden, Gone, NotFound
from kith.base.work import Work
from kith.federation.documents.answers import encode
from kith.federation.documents.signers import check_asker
from kith.federation.keys import service as keys
from kith.federation.vocabulary.outgoing.actors import ActorParts, actor, server
from kith.federation.vocabulary.outgoing.contexts import Doc, with_context
from kith.social.accounts import store as accounts
from kith.social.accounts.shapes import texts_of
from kith.social.accounts.tables import Account
from kith.social.emojis import service as emojis
from kith.social.ids import AccountId
from kith.social.versions import without_counts

__all__ = ["ActorDocuments", "actor_document", "find_open", "find_person", "is_deleted", "parts_of", "server_document"]

MOST_BYTES = 8 << 20


class ActorDocuments(ByVersion[bytes]):
    """Actors as JSON, by account, version and key."""

    def __init__(self) -> None:
        super().__init__("actor_documents", MOST_BYTES)


async def is_deleted(work: Work, name: str) -> bool:
    """Whether somebody had that name here and is gone for good."""
    found = await accounts.find_named(work.db, name) if len(name) <= 200 else None
    return found is not None and found.is_listed and found.deleted_at is not None


async def find_person(work: Work, name: str, me: AccountId | None = None) -> Account:
    """Somebody here: whoever is shut out is still there, who is gone is gone, who waits to be let in is not there."""
    found = await accounts.find_named(work.db, name) if len(name) <= 200 else None
    if found is None or not found.is_listed:
        raise NotFound
    if found.deleted_at is not None:
        raise Gone
    await check_asker(work, found, me)
    return found


async def find_open(work: Work, name: str, me: AccountId | None = None) -> Account:
    """Somebody whose lists may be asked for."""
    found = await find_person(work, name, me)
    if found.suspended_at is not None:
        raise Forbidden
    return found


async def parts_of(work: Work, account: Account) -> ActorParts:
    """All that is told of somebody, for whoever makes a document of them."""
    return await _parts(work, account, await _pem(work, account))


async def _pem(work: Work, account: Account) -> str:
    return await keys.public_key(work, account.id)


async def _parts(work: Work, account: Account, pem: str) -> ActorParts:
    used = await emojis.find_named(work, emojis.codes_in(texts_of(account), emojis.MOST_OF_PROFILE))
    moved = await accounts.find(work.db, account.moved_to) if account.moved_to is not None else None
    return ActorParts(account, pem, list(used.values()), None if moved is None else moved.uri)


async def actor_document(work: Work, account: Account) -> bytes:
    """Where somebody has moved to is an address that never changes, so it is part of the version."""
    pem = await _pem(work, account)
    kept, key = work.find(ActorDocuments), (account.id, without_counts(account.version), pem)
    found = kept.get(key)
    if found is None:
        found = encode(with_context(actor(work.settings, await _parts(work, account, pem))))
        if not work.db.is_writing:
            kept.put(key, found, len(found) + len(pem))
    return found


async def server_document(work: Work) -> bytes:
    pem = await keys.public_key(work, None)
    made: Doc = server(work.settings, pem)
    return encode(with_context(made))
