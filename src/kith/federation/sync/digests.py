"""What we tell other servers of who follows our people from there."""

from __future__ import annotations

from kith.base.work import Work
from kith.federation.sync.headers import digest_of, write_header
from kith.federation.vocabulary.incoming.ids import domain_of
from kith.federation.vocabulary.outgoing import identifiers
from kith.social.accounts.tables import Account
from kith.social.relationships.store import across as store

__all__ = ["MOST_FOLLOWERS", "headers_for", "synchronization_url"]

MOST_FOLLOWERS = 25_000


def synchronization_url(account: Account) -> str:
    return identifiers.collection(account.uri, "followers_synchronization")


async def headers_for(work: Work, account: Account) -> dict[str, str]:
    """`Collection-Synchronization` for a private post, by the hosts that followers live at.

    None where that costs too much, for so many follow.
    """
    if account.followers_count >= MOST_FOLLOWERS:
        return {}
    hosts: dict[str, list[str]] = {}
    for uri in await store.followers_elsewhere(work.db, account.id):
        hosts.setdefault(domain_of(uri), []).append(uri)
    return {host: _header(account, uris) for host, uris in hosts.items()}


def _header(account: Account, uris: list[str]) -> str:
    return write_header(identifiers.followers(account.uri), synchronization_url(account), digest_of(uris))
