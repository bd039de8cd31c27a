"""The index follows what is said and who says it."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, select

from kith.base.db import command, query, upsert
from kith.base.jobs import Kind
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountChanged, AccountDeleted
from kith.social.accounts.tables import Account
from kith.social.media.tables import media
from kith.social.search.tables import account_words, status_words
from kith.social.search.words import to_index
from kith.social.statuses import store as statuses
from kith.social.statuses.facts import StatusDeleted, StatusEdited, StatusPosted
from kith.social.statuses.tables import Status, polls
from kith.social.text.html import plain

_new_status = upsert(status_words).values(status_id=bindparam("id"), words=bindparam("words"))
_keep_status = command(
    _new_status.on_conflict_do_update(
        index_elements=[status_words.c.status_id], set_={"words": _new_status.excluded.words}
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
_descriptions = query(select(media.c.description).where(media.c.status_id == bindparam("id")), str)
_options = query(select(polls.c.options).where(polls.c.id == bindparam("id")), tuple)


async def learn_posted(work: Work, fact: StatusPosted) -> None:
    if fact.reblog_of_id is None:
        await _learn_status(work, fact.status_id)


async def learn_edited(work: Work, fact: StatusEdited) -> None:
    await _learn_status(work, fact.status_id)


async def forget(work: Work, fact: StatusDeleted) -> None:
    await work.db.run(_forget_status, id=fact.status_id)


async def _learn_status(work: Work, status_id: int) -> None:
    status = await statuses.find(work.db, status_id)
    if status is None or status.deleted_at is not None:
        return
    words = words_of_status(status, await _descriptions_of(work, status), await _options_of(work, status))
    await work.db.run(_keep_status, id=status.id, words=words)


async def _descriptions_of(work: Work, status: Status) -> list[str]:
    if not status.media_ids:
        return []
    return [text for text in await work.db.all(_descriptions, id=status.id) if text]


async def _options_of(work: Work, status: Status) -> list[str]:
    if status.poll_id is None:
        return []
    found = await work.db.one(_options, id=status.poll_id)
    return [str(option) for option in found[0]] if found else []


def words_of_status(status: Status, descriptions: list[str], options: list[str]) -> str:
    return to_index(status.spoiler_text, plain(status.content), *descriptions, *options)


async def learn_changed(work: Work, fact: AccountChanged) -> None:
    account = await accounts.find(work.db, fact.account_id)
    if account is not None:
        await work.db.run(_keep_account, id=account.id, words=words_of_account(account))


def words_of_account(account: Account) -> str:
    return to_index(account.username, account.display_name, plain(account.note_html), account.domain)


async def forget_account(work: Work, fact: AccountDeleted) -> None:
    await work.db.run(_forget_account, id=fact.account_id)


LEARN_POSTED: Kind[StatusPosted] = Kind(name="search.learn_posted", payload=StatusPosted, handler=learn_posted)
LEARN_EDITED: Kind[StatusEdited] = Kind(name="search.learn_edited", payload=StatusEdited, handler=learn_edited)
FORGET: Kind[StatusDeleted] = Kind(name="search.forget", payload=StatusDeleted, handler=forget)
LEARN_CHANGED: Kind[AccountChanged] = Kind(name="search.learn_changed", payload=AccountChanged, handler=learn_changed)
FORGET_ACCOUNT: Kind[AccountDeleted] = Kind(
    name="search.forget_account", payload=AccountDeleted, handler=forget_account
)
