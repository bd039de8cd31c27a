"""The rules of filters, in both of their forms: a filter of version 1 is one keyword of a filter of version 2."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeVar

import msgspec

from kith.base.errors import Complaint, Invalid, NotFound, Unprocessable
from kith.base.unicode import normal_form
from kith.base.work import Work
from kith.social.filters import store
from kith.social.filters.facts import FiltersChanged
from kith.social.filters.tables import ACTIONS, CONTEXTS, Filter, FilteredStatus, Keyword
from kith.social.ids import AccountId, StatusId

MOST_FILTERS = 100
MOST_KEYWORDS = 500  # in all filters of one account
MOST_STATUSES = 1000  # in one filter
LONGEST_TITLE = 256
LONGEST_KEYWORD = 512
LONGEST_LIFE = 100 * 365 * 86_400  # seconds
SHARED = (
    "These parameters cannot be changed from this application because they apply to more than one filter keyword. "
    "Use a more recent application or the web interface."
)


class KeywordChange(msgspec.Struct, kw_only=True):
    """One row of `keywords_attributes`: a new keyword, or with an id a change to one, or its end."""

    id: int | None = None
    keyword: str | None = None
    whole_word: bool | None = None
    destroy: bool = msgspec.field(default=False, name="_destroy")


class FilterChange(msgspec.Struct, kw_only=True):
    """What is left out stays as it is. An empty `expires_in` means never; None is told from absent by `has_end`."""

    title: str | None = None
    context: list[str] | None = None
    filter_action: str | None = None
    expires_in: int | None = None
    has_end: bool = False
    keywords: list[KeywordChange] = []


class Phrase(msgspec.Struct, kw_only=True):
    """A filter of version 1. What is left out of a change stays as it is; an empty `expires_in` means never."""

    phrase: str | None = None
    context: list[str] | None = None
    irreversible: bool | None = None
    whole_word: bool | None = None
    expires_in: int | msgspec.UnsetType | None = msgspec.UNSET


S = TypeVar("S")
Wrong = dict[str, list[str]]


async def find(work: Work, me: AccountId, filter_id: int) -> Filter:
    return _there(await store.find(work.db, me, filter_id))


async def find_keyword(work: Work, me: AccountId, keyword_id: int) -> Keyword:
    return _there(await store.find_keyword(work.db, me, keyword_id))


async def find_status(work: Work, me: AccountId, id: int) -> FilteredStatus:
    return _there(await store.find_status(work.db, me, id))


def _there(found: S | None) -> S:
    if found is None:
        raise NotFound
    return found


async def create(work: Work, me: AccountId, change: FilterChange) -> Filter:
    made = Filter(
        id=work.new_id(),
        account_id=me,
        title=(change.title or "").strip(),
        context=_context(change.context),
        action="warn" if change.filter_action is None else change.filter_action,
        expires_at=None,
    )
    made.expires_at = _end(work, change.expires_in)
    _check(made)
    await _hold(work, me)
    if await store.count(work.db, me) >= MOST_FILTERS:
        raise Invalid(fields={"": [Complaint("You have reached the maximum number of filters", "too_many")]})
    await store.insert(work.db, made)
    await _change_keywords(work, me, made, change.keywords)
    await _changed(work, me)
    return made


async def update(work: Work, me: AccountId, filter_id: int, change: FilterChange) -> Filter:
    before = await find(work, me, filter_id)
    after = msgspec.structs.replace(
        before,
        title=before.title if change.title is None else change.title.strip(),
        context=before.context if change.context is None else _context(change.context),
        action=before.action if change.filter_action is None else change.filter_action,
        expires_at=_end(work, change.expires_in) if change.has_end else before.expires_at,
    )
    _check(after)
    await _hold(work, me)
    await store.change(work.db, after)
    await _change_keywords(work, me, after, change.keywords)
    await _changed(work, me)
    return after


async def remove(work: Work, me: AccountId, filter_id: int) -> None:
    await store.remove(work.db, (await find(work, me, filter_id)).id)
    await _changed(work, me)


# Keywords


async def _change_keywords(work: Work, me: AccountId, of: Filter, changes: Sequence[KeywordChange]) -> None:
    if len(changes) > MOST_KEYWORDS:
        raise _too_many_keywords()
    known = {one.id: one for one in await store.keywords_of(work.db, [of.id])} if changes else {}
    for change in changes:
        if change.id is None:
            if not change.destroy:
                await _add_keyword(work, of, change.keyword or "", whole_word=bool(change.whole_word))
            continue
        before = _there(known.get(change.id))
        if change.destroy:
            await store.remove_keyword(work.db, before.id)
        elif (after := _with_changes(before, change.keyword, change.whole_word)) != before:
            await store.change_keyword(work.db, after)
    if changes:
        await _limit_keywords(work, me)


def _with_changes(before: Keyword, keyword: str | None, whole_word: bool | None) -> Keyword:
    return msgspec.structs.replace(
        before,
        keyword=before.keyword if keyword is None else _keyword(keyword),
        whole_word=before.whole_word if whole_word is None else whole_word,
    )


async def _add_keyword(work: Work, of: Filter, keyword: str, *, whole_word: bool) -> Keyword:
    made = Keyword(id=work.new_id(), filter_id=of.id, keyword=_keyword(keyword), whole_word=whole_word)
    await store.insert_keyword(work.db, made)
    return made


async def _limit_keywords(work: Work, me: AccountId) -> None:
    if await store.count_keywords(work.db, me) > MOST_KEYWORDS:
        raise _too_many_keywords()


def _too_many_keywords() -> Invalid:
    return Invalid(fields={"": [Complaint("You have reached the maximum number of filter keywords", "too_many")]})


async def add_keyword(work: Work, me: AccountId, filter_id: int, keyword: str, *, whole_word: bool) -> Keyword:
    of = await find(work, me, filter_id)
    await _hold(work, me)
    made = await _add_keyword(work, of, keyword, whole_word=whole_word)
    await _limit_keywords(work, me)
    await _changed(work, me)
    return made


async def change_keyword(
    work: Work, me: AccountId, keyword_id: int, keyword: str | None, *, whole_word: bool | None
) -> Keyword:
    after = _with_changes(await find_keyword(work, me, keyword_id), keyword, whole_word)
    await store.change_keyword(work.db, after)
    await _changed(work, me)
    return after


async def remove_keyword(work: Work, me: AccountId, keyword_id: int) -> None:
    await store.remove_keyword(work.db, (await find_keyword(work, me, keyword_id)).id)
    await _changed(work, me)


# Statuses


async def add_status(work: Work, me: AccountId, filter_id: int, status_id: StatusId) -> FilteredStatus:
    """The caller has made sure that the status is one they may see."""
    of = await find(work, me, filter_id)
    await _hold(work, me)
    if len(await store.statuses_of(work.db, [of.id])) >= MOST_STATUSES:
        raise Invalid(fields={"": [Complaint("You have reached the maximum number of filtered posts", "too_many")]})
    made = FilteredStatus(id=work.new_id(), filter_id=of.id, status_id=status_id)
    if not await store.add_status(work.db, id=made.id, filter_id=of.id, status_id=status_id):
        raise Unprocessable("Duplicate record")
    await _changed(work, me)
    return made


async def remove_status(work: Work, me: AccountId, id: int) -> None:
    await store.remove_status(work.db, (await find_status(work, me, id)).id)
    await _changed(work, me)


# Version 1


async def create_phrase(work: Work, me: AccountId, phrase: Phrase) -> tuple[Filter, Keyword]:
    _check_phrase(phrase)
    change = FilterChange(
        title=_title(phrase.phrase or ""),
        context=phrase.context,
        filter_action="hide" if phrase.irreversible else "warn",
        expires_in=None if phrase.expires_in is msgspec.UNSET else phrase.expires_in,
        keywords=[KeywordChange(keyword=phrase.phrase, whole_word=phrase.whole_word)],
    )
    made = await create(work, me, change)
    [keyword] = await store.keywords_of(work.db, [made.id])
    return made, keyword


async def change_phrase(work: Work, me: AccountId, keyword_id: int, phrase: Phrase) -> tuple[Filter, Keyword]:
    """What belongs to the whole filter changes only if the keyword is its only one."""
    before = await find_keyword(work, me, keyword_id)
    of = await find(work, me, before.filter_id)
    if phrase.phrase is None:
        phrase.phrase = before.keyword
    if phrase.context is None:
        phrase.context = of.context.split()
    _check_phrase(phrase)
    await _hold(work, me)
    text, is_only = _keyword(phrase.phrase or ""), len(await store.keywords_of(work.db, [of.id])) == 1
    after = msgspec.structs.replace(
        of,
        context=_context(phrase.context),
        action=_action_of(of, phrase),
        expires_at=of.expires_at if phrase.expires_in is msgspec.UNSET else _end(work, phrase.expires_in),
    )
    if after != of and not is_only:
        raise Unprocessable(SHARED)
    if is_only and of.title == _title(before.keyword):
        after.title = _title(text)
    if after != of:
        await store.change(work.db, after)
    keyword = _with_changes(before, text, phrase.whole_word)
    await store.change_keyword(work.db, keyword)
    await _changed(work, me)
    return after, keyword


def _title(phrase: str) -> str:
    """A filter of version 1 has no other."""
    return phrase.strip()[:LONGEST_TITLE].strip()


def _action_of(of: Filter, phrase: Phrase) -> str:
    """Version 1 knows two actions; another one stays as it is unless the client asks for hiding."""
    if phrase.irreversible is None:
        return of.action
    if phrase.irreversible:
        return "hide"
    return "warn" if of.action == "hide" else of.action


async def remove_phrase(work: Work, me: AccountId, keyword_id: int) -> None:
    """The filter goes with its last keyword, unless there are statuses in it."""
    keyword = await find_keyword(work, me, keyword_id)
    await store.remove_keyword(work.db, keyword.id)
    rest = await store.keywords_of(work.db, [keyword.filter_id]) or await store.statuses_of(
        work.db, [keyword.filter_id]
    )
    if not rest:
        await store.remove(work.db, keyword.filter_id)
    await _changed(work, me)


# What they share


def _context(given: Sequence[str] | None) -> str:
    return " ".join(dict.fromkeys(one.strip() for one in given or () if one.strip()))


def _check(one: Filter) -> None:
    wrong: Wrong = {}
    if not one.title:
        wrong["title"] = [Complaint("can't be blank", "blank")]
    elif len(one.title) > LONGEST_TITLE:
        wrong["title"] = [Complaint(f"is too long (maximum is {LONGEST_TITLE} characters)", "too_long")]
    _check_context(wrong, one.context.split())
    if one.action not in ACTIONS:
        wrong["action"] = [Complaint("is not included in the list", "inclusion")]
    if wrong:
        raise Invalid(fields=wrong)


def _check_context(wrong: Wrong, context: Sequence[str]) -> None:
    unknown = Complaint("None or invalid context supplied", "invalid")
    if not context:
        wrong["context"] = [Complaint("can't be blank", "blank"), unknown]
    elif any(one not in CONTEXTS for one in context):
        wrong["context"] = [unknown]


def _check_phrase(phrase: Phrase) -> None:
    wrong: Wrong = {}
    if not (phrase.phrase or "").strip():
        wrong["phrase"] = [Complaint("can't be blank", "blank")]
    elif len((phrase.phrase or "").strip()) > LONGEST_KEYWORD:
        wrong["phrase"] = [Complaint(f"is too long (maximum is {LONGEST_KEYWORD} characters)", "too_long")]
    _check_context(wrong, _context(phrase.context).split())
    if wrong:
        raise Invalid(fields=wrong)


def _keyword(text: str) -> str:
    """In the normal form in which texts of statuses are looked at."""
    text = normal_form("NFC", text.strip())
    if not text:
        raise Invalid(fields={"keyword": [Complaint("can't be blank", "blank")]})
    if len(text) > LONGEST_KEYWORD:
        words = f"is too long (maximum is {LONGEST_KEYWORD} characters)"
        raise Invalid(fields={"keyword": [Complaint(words, "too_long")]})
    return text


def _end(work: Work, seconds: int | None) -> datetime | None:
    if seconds is None:
        return None
    return work.now + timedelta(seconds=max(0, min(seconds, LONGEST_LIFE)))


async def _hold(work: Work, me: AccountId) -> None:
    await work.db.hold(f"filters:{me}")


async def _changed(work: Work, me: AccountId) -> None:
    await store.set_version(work.db, me, work.new_id())
    work.announce(FiltersChanged(account_id=me))
