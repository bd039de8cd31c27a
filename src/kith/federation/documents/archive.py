"""What somebody takes along of their own: the same documents that other servers get, and what was for few people."""

from __future__ import annotations

from collections.abc import Sequence

from kith.base.work import Work
from kith.federation.documents.answers import encode
from kith.federation.documents.people import actor_document
from kith.federation.documents.posts import activities_of
from kith.federation.vocabulary.outgoing.contexts import with_context
from kith.social.accounts.tables import Account
from kith.social.archives.documents import ArchivedPosts
from kith.social.statuses.tables import Status

__all__ = ["OwnDocuments"]


class OwnDocuments:
    async def person(self, work: Work, account: Account) -> bytes:
        return await actor_document(work, account)

    async def posts(self, work: Work, account: Account, rows: Sequence[Status]) -> ArchivedPosts:
        made = await activities_of(work, rows, account.id)
        return ArchivedPosts([encode(item) for item in made.items], made.terms)

    def context(self, terms: frozenset[str]) -> bytes:
        return encode(with_context({}, terms)["@context"])
