"""Key pairs for people of a town, made once for each process that runs tests.

Every account has an RSA key, and making one takes a good part of a tenth of a second; thousands of people are made in
a run. Those whom a test makes get their account at once, with the next of some keys that go round: nobody in a test signs
with the key of somebody else, unless there are more people in it than keys. Servers have keys that nobody else gets.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

from kith.base.work import Work
from kith.federation.keys import store
from kith.federation.keys.key_pairs import generate
from kith.federation.keys.service import PLACE
from kith.federation.keys.tables import ActorKey
from kith.identity.for_social import Sealer
from kith.social.ids import AccountId

PEOPLE, SERVERS = 24, 4
_of_people, _of_servers = itertools.cycle(range(PEOPLE)), itertools.cycle(range(PEOPLE, PEOPLE + SERVERS))


async def give_key(work: Work, account_id: AccountId | None = None) -> None:
    """To a new account and, with the first one, to the server."""
    for owner in {None, account_id}:
        if await store.find(work.db, owner) is None:
            await store.insert(work.db, _key(work, owner))


def _key(work: Work, owner: AccountId | None) -> ActorKey:
    public, private = _pair(next(_of_servers if owner is None else _of_people))
    return ActorKey(work.new_id(), owner, public, work.find(Sealer).seal(private, PLACE), None, work.now)


@lru_cache(maxsize=PEOPLE + SERVERS)
def _pair(_number: int) -> tuple[str, str]:
    return generate()
