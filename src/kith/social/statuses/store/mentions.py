"""Who is mentioned in a post."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import and_, bindparam, delete, select, update

from kith.base.db import Session, add_once, any_of, command, query
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId, StatusId
from kith.social.statuses.tables import mentions

_mentions_of = query(
    select(
        mentions.c.status_id,
        mentions.c.account_id,
        accounts.c.username,
        accounts.c.domain,
        accounts.c.url,
        accounts.c.uri,
    )
    .join(accounts, accounts.c.id == mentions.c.account_id)
    .where(and_(any_of(mentions.c.status_id, "ids"), ~mentions.c.silent))
    .order_by(mentions.c.status_id, mentions.c.account_id),
    tuple,
)
_mentioned = query(select(mentions.c.account_id).where(mentions.c.status_id == bindparam("status")), AccountId)
_add_mention = command(add_once(mentions))
_silence_mentions = command(
    update(mentions)
    .where(and_(mentions.c.status_id == bindparam("status"), any_of(mentions.c.account_id, "accounts")))
    .values(silent=True)
)
_forget_mentions = command(
    delete(mentions).where(and_(mentions.c.status_id == bindparam("status"), any_of(mentions.c.account_id, "accounts")))
)
_speak_mentions = command(
    update(mentions)
    .where(and_(mentions.c.status_id == bindparam("status"), any_of(mentions.c.account_id, "accounts")))
    .values(silent=False)
)


async def mentions_of(db: Session, ids: Sequence[int]) -> dict[StatusId, list[tuple[AccountId, str, str, str]]]:
    """Who is mentioned aloud: id, name, domain, address, by status."""
    found: dict[StatusId, list[tuple[AccountId, str, str, str]]] = {}
    for status_id, account_id, username, domain, url, uri in await db.all(_mentions_of, ids=list(ids)):
        found.setdefault(status_id, []).append((account_id, username, domain, url or uri))
    return found


async def mentioned_in(db: Session, status_id: StatusId) -> list[AccountId]:
    """Everybody who is mentioned, silently or not."""
    return await db.all(_mentioned, status=status_id)


async def mention(db: Session, status_id: StatusId, account_ids: Sequence[AccountId]) -> None:
    if account_ids:
        await db.many(_add_mention, [{"status_id": status_id, "account_id": id, "silent": False} for id in account_ids])
        await db.run(_speak_mentions, status=status_id, accounts=list(account_ids))


async def silence_mentions(db: Session, status_id: StatusId, account_ids: Sequence[AccountId]) -> None:
    """They keep what they could see, and are named no more."""
    if account_ids:
        await db.run(_silence_mentions, status=status_id, accounts=list(account_ids))


async def forget_mentions(db: Session, status_id: StatusId, account_ids: Sequence[AccountId]) -> None:
    if account_ids:
        await db.run(_forget_mentions, status=status_id, accounts=list(account_ids))
