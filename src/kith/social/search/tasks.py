"""The index follows what is said and who says it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import bindparam, delete

from kith.base.db import Command, command, upsert
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountChanged, AccountDeleted
from kith.social.accounts.tables import Account
from kith.social.search.tables import account_words, status_words
from kith.social.search.words import to_index
from kith.social.statuses.facts import StatusDeleted, StatusEdited, StatusPosted
from kith.social.statuses.texts import texts_of
from kith.social.text.html import plain

MOST_AT_ONCE = 50
_NAMES = ("id", "words")


@lru_cache(MOST_AT_ONCE)
def _keep(many: int) -> Command:
    """One statement for so many statuses, for the index is written to disk after each."""
    new = upsert(status_words).values(
        [{"status_id": bindparam(f"id_{n}"), "words": bindparam(f"words_{n}")} for n in range(many)]
    )
    return command(
        new.on_conflict_do_update(
            index_elements=[status_words.c.status_id], set_={"words": new.excluded.words}
        ).inline()
    )


_forget_status = command(delete(status_words).where(status_words.c.status_id == bindparam("id")))
_new_account = upsert(account_words).values(account_id=bindparam("id"), words=bindparam("words"))
_keep_account = command(
    _new_account.on_conflict_do_update(
        index_elements=[account_words.c.account_id], set_={"words": _new_account.excluded.words}
    ).inline()
)
_forget_account = command(delete(account_words).where(account_words.c.account_id == bindparam("id")))


async def learn_posted(work: Work, facts: Sequence[StatusPosted]) -> None:
    await _learn_statuses(work, [fact.status_id for fact in facts])


async def learn_edited(work: Work, facts: Sequence[StatusEdited]) -> None:
    await _learn_statuses(work, [fact.status_id for fact in facts])


async def learn_edit(work: Work, fact: StatusEdited) -> None:
    """Before the answer leaves: what an edit took out is not found any more."""
    await _learn_statuses(work, [fact.status_id])


async def forget(work: Work, fact: StatusDeleted) -> None:
    await work.db.run(_forget_status, id=fact.status_id)


async def _learn_statuses(work: Work, ids: Sequence[int]) -> None:
    """Boosts have no words of their own."""
    rows = [(id, to_index(*texts)) for id, texts in (await texts_of(work.db, ids)).items()]
    for start in range(0, len(rows), MOST_AT_ONCE):
        some = rows[start : start + MOST_AT_ONCE]
        values = {f"{name}_{n}": value for n, row in enumerate(some) for name, value in zip(_NAMES, row, strict=True)}
        await work.db.run(_keep(len(some)), **values)


async def learn_changed(work: Work, fact: AccountChanged) -> None:
    account = await accounts.find(work.db, fact.account_id)
    if account is not None:
        await work.db.run(_keep_account, id=account.id, words=words_of_account(account))


def words_of_account(account: Account) -> str:
    return to_index(account.username, account.display_name, plain(account.note_html), account.domain)


async def forget_account(work: Work, fact: AccountDeleted) -> None:
    await work.db.run(_forget_account, id=fact.account_id)


LEARN_POSTED: JobKind[StatusPosted] = JobKind(name="search.learn_posted", payload=StatusPosted, many=learn_posted)
LEARN_EDITED: JobKind[StatusEdited] = JobKind(name="search.learn_edited", payload=StatusEdited, many=learn_edited)
FORGET: JobKind[StatusDeleted] = JobKind(name="search.forget", payload=StatusDeleted, handler=forget)
LEARN_CHANGED: JobKind[AccountChanged] = JobKind(
    name="search.learn_changed", payload=AccountChanged, handler=learn_changed
)
FORGET_ACCOUNT: JobKind[AccountDeleted] = JobKind(
    name="search.forget_account", payload=AccountDeleted, handler=forget_account
)
