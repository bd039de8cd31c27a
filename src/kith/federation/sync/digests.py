"""What we tell other servers of who follows our people from there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from kith.base.work import Work
from kith.federation.sync import store
from kith.federation.sync.headers import as_hex, sum_of, write_header
from kith.federation.vocabulary.incoming.ids import domain_of
from kith.federation.vocabulary.outgoing import identifiers
from kith.social.accounts.tables import Account

__all__ = ["MOST_FOLLOWERS", "digest_of_many", "headers_for", "synchronization_url"]

MOST_FOLLOWERS = 25_000
AT_ONCE = 250  # ids, between which others on the loop have a turn


def synchronization_url(account: Account) -> str:
    return identifiers.collection(account.uri, "followers_synchronization")


async def headers_for(work: Work, account: Account) -> dict[str, str]:
    """`Collection-Synchronization` for a private post, by the hosts that followers live at.

    A host goes by its ids, and so does whoever compares. So it has none where people are written to at another host
    than the one their ids are of: followers would be missing on one side, and be taken for former ones. And there is
    none at all where it costs too much, for so many follow.
    """
    if account.followers_count >= MOST_FOLLOWERS:
        return {}
    sums: dict[str, int] = {}
    unfit: set[str] = set()
    hosts: dict[str, tuple[str, str]] = {}
    for number, (uri, inbox) in enumerate(
        await store.followers_elsewhere(work.db, account.id, account.followers_count)
    ):
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)
        if inbox not in hosts:
            hosts[inbox] = (_beginning(inbox), domain_of(inbox))
        beginning, host = hosts[inbox]
        if uri.lower().startswith(beginning):
            sums[host] = sums.get(host, 0) ^ sum_of(uri)
        else:
            unfit |= {host, domain_of(uri)}
    return {host: _header(account, made) for host, made in sums.items() if host not in unfit}


def _beginning(url: str) -> str:
    """Of all that has the same scheme, host and port."""
    return "/".join(url.lower().split("/", 3)[:3]) + "/"


def _header(account: Account, made: int) -> str:
    return write_header(identifiers.followers(account.uri), synchronization_url(account), as_hex(made))


async def digest_of_many(uris: Iterable[str]) -> str:
    """As `digest_of`, with others on the loop in between."""
    made = 0
    for number, uri in enumerate(uris):
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)
        made ^= sum_of(uri)
    return as_hex(made)
