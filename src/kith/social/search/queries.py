"""Search as queries: the statuses somebody may find, people, and tags."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import (
    ColumnElement,
    Text,
    and_,
    bindparam,
    cast,
    desc,
    func,
    literal,
    literal_column,
    not_,
    or_,
    select,
    union_all,
)

from kith.base.db import ID, Instant, Query, above_floor, alias_of, any_of, any_row, query, unplanned
from kith.base.ids import id_at
from kith.base.work import Work
from kith.social.accounts import lines as people
from kith.social.accounts.access import is_there
from kith.social.ids import AccountId, StatusId
from kith.social.media.tables import media
from kith.social.relationships import rules
from kith.social.search.index_queries import (
    HasWords,
    MayBeMore,
    Newest,
    account_matches,
    bound,
    is_short,
    status_matches,
)
from kith.social.search.query_syntax import SearchOperator, Within
from kith.social.search.words import Term
from kith.social.statuses import access
from kith.social.statuses.lines import A, S, StatusRow, lines
from kith.social.statuses.lines import by_ids as lines_by_ids
from kith.social.statuses.tables import PUBLIC, bookmarks, cards, favourites, mentions, polls, statuses, votes
from kith.social.tags.tables import Tag, tags

Clause = ColumnElement[bool]
ME = access.ME
LARGEST_ID = (1 << 63) - 1
ID_DAY = 86_400_000 << 16


class SearchStep(NamedTuple):
    """How many that have the words are looked at, and on PostgreSQL how many to find these; None: all, by the index."""

    window: int
    reach: int | None


# One after the other.
STEPS = (SearchStep(100, 2_000), SearchStep(1_000, 10_000), SearchStep(30_000, None), SearchStep(LARGEST_ID, None))


# Statuses


def _library() -> Clause:
    """What one had to do with: said it, was named in it, marked it, passed it on, or voted. Found by the person,
    however much others say."""
    own, named, boosts, voted, asked = map(alias_of, (statuses, mentions, statuses, votes, polls))
    parts = [
        select(own.c.id).where(own.c.account_id == ME),
        select(named.c.status_id).where(named.c.account_id == ME),
        *(select(one.c.status_id).where(one.c.account_id == ME) for one in map(alias_of, (favourites, bookmarks))),
        select(boosts.c.reblog_of_id).where(
            and_(boosts.c.account_id == ME, boosts.c.reblog_of_id.is_not(None), boosts.c.deleted_at.is_(None))
        ),
        select(asked.c.status_id).where(and_(asked.c.id == voted.c.poll_id, voted.c.account_id == ME)),
    ]
    return S.c.id.in_(union_all(*parts))


def _is_in_library() -> Clause:
    """The same, asked of a status."""
    boosts, liked, kept, voted = alias_of(statuses), alias_of(favourites), alias_of(bookmarks), alias_of(votes)
    return or_(
        S.c.account_id == ME,
        access.mentions_me(S.c.id),
        any_row(liked, and_(liked.c.account_id == ME, liked.c.status_id == S.c.id)),
        any_row(kept, and_(kept.c.account_id == ME, kept.c.status_id == S.c.id)),
        any_row(
            boosts,
            and_(boosts.c.account_id == ME, boosts.c.reblog_of_id == S.c.id, boosts.c.deleted_at.is_(None)),
        ),
        any_row(voted, and_(voted.c.account_id == ME, voted.c.poll_id == S.c.poll_id)),
    )


def _public() -> Clause:
    return and_(access.shown_to(S, PUBLIC), A.c.indexable)


def _anything() -> Clause:
    return or_(_is_in_library(), _public())


_WITHIN: dict[str, Callable[[], Clause]] = {"library": _library, "public": _public, "all": _anything}


def _has_media(*kinds: str) -> Clause:
    """What an edit took out belongs to the status still, for its history, but is not among what it shows."""
    own = alias_of(media)
    shown = cast(S.c.media_ids, Text)
    # A JSON list of numbers, read as text: both databases write them with or without spaces between.
    listed = func.replace(func.replace(func.replace(shown, " ", ""), "[", ","), "]", ",")
    is_listed = listed.like(literal("%,").concat(cast(own.c.id, Text)).concat(",%"))
    return any_row(own, and_(own.c.status_id == S.c.id, own.c.kind.in_(kinds), is_listed))


def _embeds() -> Clause:
    """Whether what is linked can be looked at in place; the databases write documents with a space or without."""
    own = alias_of(cards)
    written = cast(own.c.data, Text)
    moves = or_(*(written.like(f'%"type":{space}"{kind}"%') for kind in ("video", "rich") for space in ("", " ")))
    return any_row(own, and_(own.c.id == S.c.card_id, moves))


_SIMPLE: dict[str, Clause] = {
    "has:media": func.length(cast(S.c.media_ids, Text)) > 2,  # more than "[]"
    "has:image": _has_media("image", "gifv"),
    "has:video": _has_media("video", "gifv"),
    "has:audio": _has_media("audio"),
    "has:poll": S.c.poll_id.is_not(None),
    "has:link": S.c.card_id.is_not(None),
    "has:embed": _embeds(),
    "is:reply": S.c.in_reply_to_id.is_not(None),
    "is:sensitive": S.c.sensitive == cast(True, S.c.sensitive.type),
    "is:quote": S.c.quoted_id.is_not(None),
}


def _clause(kind: str, name: str) -> Clause:
    """What a filter asks for; its value is bound as `name`, the end of a stretch as `name_end`."""
    at = bindparam(name, type_=Instant())
    match kind:
        case "from":
            return any_of(S.c.account_id, name)
        case "language":
            return any_of(func.lower(func.coalesce(S.c.language, "")), name)
        case "before":
            return S.c.created_at < at
        case "after":
            return S.c.created_at >= at
        case "during":
            return and_(S.c.created_at >= at, S.c.created_at < bindparam(f"{name}_end", type_=Instant()))
    return _SIMPLE[kind]


class StatusSearchForm(msgspec.Struct, frozen=True):
    """What a search for statuses consists of, without its values: searches of one form share a statement."""

    within: Within
    has_wanted: bool
    has_unwanted: bool
    filters: tuple[tuple[str, bool], ...]
    of_author: bool
    by_text: bool  # a few people's statuses are walked along and their texts looked at, not all that have the words
    step: SearchStep


@lru_cache(512)
def _statuses(form: StatusSearchForm) -> Query[StatusRow]:
    clauses: list[Clause] = [S.c.reblog_of_id.is_(None), _WITHIN[form.within]()]
    clauses += [or_(S.c.account_id == ME, ~rules.hides_author(ME, A)), access.is_heard(A, anonymous=False)]
    if form.has_wanted and form.by_text:
        clauses.append(HasWords(S.c.id, "wanted", without="unwanted"))
    elif form.has_wanted:
        clauses.append(Newest(S.c.id, "wanted", window=form.step.window, reach=form.step.reach))
    elif form.has_unwanted:
        clauses.append(not_(status_matches(S.c.id, "unwanted")))
    for place, (kind, negated) in enumerate(form.filters):
        clause = _clause(kind, f"filter{place}")
        clauses.append(not_(clause) if negated else clause)
    if form.of_author:
        clauses.append(S.c.account_id == bindparam("author"))
    clauses += [
        S.c.id < unplanned(bindparam("older_than", type_=ID)),
        above_floor(S.c.id, unplanned(bindparam("newer_than", type_=ID))),
    ]
    found = lines(anonymous=False).where(and_(*clauses)).order_by(S.c.id.desc())
    return query(found.limit(bindparam("limit")).offset(bindparam("offset")), StatusRow, wire=True)


async def find_statuses(
    work: Work,
    me: AccountId,
    *,
    within: Within,
    wanted: Sequence[Term],
    unwanted: Sequence[Term],
    filters: Sequence[SearchOperator],
    author_id: AccountId | None,
    max_id: int | None,
    min_id: int | None,
    limit: int,
    offset: int,
) -> list[StatusRow]:
    """Newest first, as lines. Whoever is in the searcher's way is left out."""
    author_id, filters = _one_author(author_id, filters)
    kinds = tuple((one.kind, one.negated) for one in filters)
    of_few = within == "library" or author_id is not None or ("from", False) in kinds
    form = StatusSearchForm(
        within,
        bool(wanted),
        bool(unwanted),
        kinds,
        author_id is not None,
        of_few and all(map(is_short, (*wanted, *unwanted))),
        STEPS[0],
    )
    values: dict[str, Any] = bound("wanted", wanted, without=unwanted) | bound("unwanted", unwanted, every=False)
    for place, one in enumerate(filters):
        if one.kind == "during":
            values |= {f"filter{place}": one.value[0], f"filter{place}_end": one.value[1]}
        else:
            values[f"filter{place}"] = one.value
    values |= {
        "me": me,
        "now": work.now,
        "author": author_id,
        "older_than": min([LARGEST_ID if max_id is None else max_id, *_tops(filters)]),
        "newer_than": -1 if min_id is None else min_id,
        "limit": limit,
        "offset": offset,
    }
    if not wanted or form.by_text:
        return await work.db.slow(_statuses(form), **values)
    return await _among_newest(work, form, values)


def _one_author(
    author_id: AccountId | None, filters: Sequence[SearchOperator]
) -> tuple[AccountId | None, Sequence[SearchOperator]]:
    """`from:` one person is the same as their account, whose statuses have an index in their order."""
    for one in filters:
        if author_id is None and one.kind == "from" and not one.negated and len(one.value) == 1:
            return AccountId(one.value[0]), [other for other in filters if other is not one]
    return author_id, filters


def _tops(filters: Sequence[SearchOperator]) -> Iterator[int]:
    """Ids are made of the moment at which something was said; clocks may differ by a day at most."""
    for one in filters:
        if one.kind in ("before", "during") and not one.negated:
            yield id_at(one.value[1] if one.kind == "during" else one.value) + ID_DAY


async def _among_newest(work: Work, form: StatusSearchForm, values: dict[str, Any]) -> list[StatusRow]:
    """Among the newest that have the words; where these do not fill the page, more of them are looked at."""
    found: list[StatusRow] = []
    for step in STEPS:
        found = await work.db.slow(_statuses(msgspec.structs.replace(form, step=step)), **values)
        if len(found) >= values["limit"]:
            break
        if await work.db.slow(_may_be_more(step), **values) == [False]:
            break
    return found


@lru_cache(len(STEPS))
def _may_be_more(step: SearchStep) -> Query[bool]:
    looked_at = Newest(statuses.c.id, "wanted", window=step.window, reach=step.reach)
    return query(select(MayBeMore(looked_at)), bool)


# People


@lru_cache(16)
def _people(*, anonymous: bool, following: bool, has_top: bool) -> Query[people.AccountRow]:
    """Those one follows come first, then those whose name begins so, then those whom many follow.

    Whoever is in one's way is found by their whole name only, to be looked at or to be let back in.
    """
    person = people.A
    # Written so that SQLite begins with the words, not with all who have not moved.
    has_moved = func.coalesce(person.c.moved_to, literal_column("0")) != literal_column("0")
    clauses: list[Clause] = [is_there(person), ~has_moved, account_matches(person.c.id, "words")]
    order: list[Any] = []
    if not anonymous:
        mine = or_(rules.follows(ME, person.c.id), person.c.id == ME)
        order.append(desc(mine))
        clauses.append(~rules.hides_author(ME, person))
        if following:
            clauses.append(mine)
    if has_top:
        clauses.append(person.c.id != bindparam("top"))
    begins = person.c.username_key.like(bindparam("pattern", type_=Text()), escape="!")
    order += [desc(begins), person.c.followers_count.desc(), person.c.id]
    found = people.lines().where(and_(*clauses)).order_by(*order)
    return query(found.limit(bindparam("limit")).offset(bindparam("offset")), people.AccountRow, wire=True)


async def find_people(
    work: Work,
    me: AccountId | None,
    terms: Sequence[Term],
    *,
    key: str,
    following: bool,
    without: AccountId | None,
    limit: int,
    offset: int,
) -> list[people.AccountRow]:
    """As lines of accounts. `key` is how the name one is looking for would begin."""
    statement = _people(anonymous=me is None, following=following, has_top=without is not None)
    return await work.db.slow(
        statement,
        me=me,
        now=work.now,
        pattern=_beginning(key),
        top=without,
        limit=limit,
        offset=offset,
        **bound("words", terms),
    )


_url = bindparam("url", type_=Text())
account_by_url = query(
    lambda: select(people.A.c.id).where(or_(people.A.c.uri == _url, people.A.c.url == _url)).limit(1), AccountId
)
status_by_url = query(
    lambda: select(statuses.c.id).where(or_(statuses.c.uri == _url, statuses.c.url == _url)).limit(1), StatusId
)
_mine = or_(rules.follows(ME, people.A.c.id), people.A.c.id == ME)
_is_followed = query(lambda: select(people.A.c.id).where(and_(people.A.c.id == bindparam("account"), _mine)), int)
by_ids = lines_by_ids(anonymous=False)


async def account_at(work: Work, url: str) -> AccountId | None:
    return await work.db.one(account_by_url, url=url)


async def status_at(work: Work, url: str) -> StatusId | None:
    return await work.db.one(status_by_url, url=url)


async def is_mine(work: Work, me: AccountId, account_id: AccountId) -> bool:
    """Oneself, or somebody one follows."""
    return await work.db.one(_is_followed, me=me, account=account_id) is not None


# Tags


@lru_cache(2)
def _tags(*, reviewed: bool) -> Query[Tag]:
    """Words of conversations that are not for everybody are not found."""
    is_open = or_(tags.c.last_status_at.is_not(None), tags.c.reviewed_at.is_not(None))
    clauses: list[Clause] = [tags.c.listable, is_open, tags.c.name.like(bindparam("pattern", type_=Text()), escape="!")]
    if reviewed:
        clauses.append(tags.c.reviewed_at.is_not(None))
    found = select(tags).where(and_(*clauses)).order_by(func.length(tags.c.name), tags.c.name)
    return query(found.limit(bindparam("limit")).offset(bindparam("offset")), Tag)


async def find_tags(work: Work, name: str, *, reviewed: bool, limit: int, offset: int) -> list[Tag]:
    """Those that begin so, the shortest first: the one that is called so, if there is one."""
    return await work.db.slow(_tags(reviewed=reviewed), pattern=_beginning(name), limit=limit, offset=offset)


def _beginning(text: str) -> str:
    """Whatever begins so, as LIKE reads it."""
    return text.replace("!", "!!").replace("_", "!_").replace("%", "!%") + "%"
