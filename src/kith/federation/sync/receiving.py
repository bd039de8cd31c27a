"""What other servers tell us of who follows their people from here, and what follows when we do not agree."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from itertools import takewhile

import msgspec

from kith.base.errors import NotFound, Throttled
from kith.base.http.sites import site_of_domain
from kith.base.jobs import MAKES_ROOM, Give, JobKind
from kith.base.limits import Limiter, LimitRule
from kith.base.work import Work
from kith.federation.fetching import FetchChain, FetchFailed, RemoteClient
from kith.federation.fetching.collections import fetch_collection, fetch_items
from kith.federation.fetching.our_signer import OurSigner
from kith.federation.people import store as people
from kith.federation.sync.digests import MOST_FOLLOWERS, digest_of_many
from kith.federation.sync.facts import GhostFollowFound
from kith.federation.sync.headers import read_header
from kith.federation.vocabulary.incoming.ids import same_domain
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.relationships import store as relationships
from kith.social.relationships.service import follow
from kith.social.relationships.store import across as store

__all__ = ["SYNCHRONIZE", "Synchronize", "compare"]

MOST_PAGES = 10
# Of one site, which may say as often as it likes that everybody here follows somebody there. What is over is looked at
# with a later post.
LISTS = LimitRule("sync_lists", most=60, seconds=300)
GHOSTS = LimitRule("sync_ghosts", most=300, seconds=3600)  # each is a message that a member signs
AT_ONCE = 50  # people, for whom nobody else writes meanwhile


class Synchronize(msgspec.Struct):
    """`digest` is what the other server says its list comes to: a list that comes to something else proves nothing."""

    account_id: AccountId
    url: str
    digest: str


async def compare(work: Work, sender: Account, header_value: str) -> None:
    """Look at the header `Collection-Synchronization` of an activity that `sender` has signed.

    Where it does not fit what is known here, a job fetches the list. A header that is not whole, or not about the
    sender's own followers, is passed over.
    """
    told = read_header(header_value)
    if told is None or sender.is_local or not same_domain(told.url, sender.uri):
        return
    actor = await people.find_actor(work.db, sender.id)
    if actor is None or actor.followers != told.collection_id:
        return
    known = await store.followers_here(work.db, sender.id)
    if await digest_of_many(known) != told.digest and _may_spend(work, LISTS, sender):
        payload = Synchronize(account_id=sender.id, url=told.url, digest=told.digest)
        work.enqueue(SYNCHRONIZE, payload, key=str(sender.id))


def _may_spend(work: Work, rule: LimitRule, account: Account) -> bool:
    try:
        work.find(Limiter).spend(rule, site_of_domain(account.domain))
    except Throttled:
        return False
    return True


async def synchronize(work: Work, payload: Synchronize) -> None:
    account = await accounts.find(work.db, payload.account_id)
    if account is None or account.is_gone:
        return
    try:
        told = await _fetched(work, payload.url)
    except FetchFailed as failed:
        if failed.may_pass:
            raise
        raise Give.up(str(failed)) from failed
    if await digest_of_many(told) != payload.digest:
        return  # it has changed meanwhile, or was not had whole
    known = await store.followers_here(work.db, account.id)
    there = set((await store.find_ours(work.db, [uri for uri in told if uri not in known])).values())
    asking = there & await store.asking_here(work.db, account.id)
    ghosts = takewhile(lambda _: _may_spend(work, GHOSTS, account), sorted(there - asking))
    await _of_each(work, account, [id for uri, id in known.items() if uri not in told], _forget)
    await _of_each(work, account, [*asking, *ghosts], _settle)


async def _of_each(
    work: Work, account: Account, ids: Collection[AccountId], do: Callable[[Work, AccountId, Account], Awaitable[None]]
) -> None:
    """A few at a time, each time in a transaction of its own."""
    all_of_them = sorted(ids)
    for first in range(0, len(all_of_them), AT_ONCE):
        async with work.aside() as part:
            for id in all_of_them[first : first + AT_ONCE]:
                await do(part, id, account)


async def _fetched(work: Work, url: str) -> set[str]:
    client, signer, chain = work.find(RemoteClient), work.find(OurSigner), FetchChain()
    collection = await fetch_collection(client, url, chain=chain, signer=signer)
    items = await fetch_items(
        client, collection, most_pages=MOST_PAGES, most_items=MOST_FOLLOWERS, chain=chain, signer=signer
    )
    return {item.id for item in items if item.id is not None}


async def _forget(work: Work, follower_id: AccountId, account: Account) -> None:
    """A follow that is not known where it would count."""
    follower = await accounts.find(work.db, follower_id)
    if follower is not None:
        await follow.unfollow(work, follower, account.id)


async def _settle(work: Work, follower_id: AccountId, account: Account) -> None:
    """A follow that is known there only: one that was asked for was let in, and any other is taken back."""
    try:
        await follow.authorize(work, account, follower_id)
    except NotFound:
        if not await relationships.is_following(work.db, follower_id, account.id):
            work.announce(GhostFollowFound(account_id=follower_id, target_id=account.id))


SYNCHRONIZE: JobKind[Synchronize] = JobKind(
    name="federation_sync.synchronize",
    payload=Synchronize,
    handler=synchronize,
    outside=True,
    concurrency=4,
    **MAKES_ROOM,
    attempts=4,
    is_harmless=True,
)
