from __future__ import annotations

from sqlalchemy import and_, bindparam, func, select

from kith.base.db import Session, query
from kith.federation.people.tables import actors
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId
from kith.social.relationships.follow_source import Following

MANY = 2000  # rows to read beside the loop

_following = Following("following")
_followers = query(
    select(accounts.c.uri, func.coalesce(actors.c.shared_inbox, actors.c.inbox))
    .select_from(
        _following.source.join(accounts, accounts.c.id == _following.follower).join(
            actors, actors.c.account_id == accounts.c.id
        )
    )
    .where(and_(_following.followed == bindparam("account"), accounts.c.deleted_at.is_(None))),
    tuple,
)


async def followers_elsewhere(db: Session, account_id: AccountId, count: int) -> list[tuple[str, str]]:
    """Who follows one of ours from other servers: their ids, and where they are written to.

    `count` is how many follow altogether, from here too. What is asked has been committed.
    """
    read = db.slow if count > MANY else db.all
    return await read(_followers, account=account_id)
