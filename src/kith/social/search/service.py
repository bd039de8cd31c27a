"""Searching: people, tags and statuses, as far as whoever searches may find them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

import msgspec

from kith.base.errors import Malformed, NotFound
from kith.base.work import Work
from kith.social.accounts import lines as people
from kith.social.accounts import lookup as accounts_finding
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId, StatusId
from kith.social.search import queries
from kith.social.search.elsewhere import Elsewhere
from kith.social.search.query_syntax import LONGEST, SearchOperator, SearchQuery, read
from kith.social.search.words import MOST_TERMS, Term, normal, to_term
from kith.social.statuses import store as statuses
from kith.social.statuses.lines import StatusRow
from kith.social.tags.tables import Tag
from kith.social.text.parts import is_tag, normal_tag, written_tag

SHORTEST = 3
NO_WORDS = "At least one keyword or phrase is required"
_HANDLE = re.compile(r"@?(?P<name>[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)(?:@(?P<domain>[^\s@/]+))?\Z", re.IGNORECASE)
_URL = re.compile(r"https?://\S+\Z", re.IGNORECASE)


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for, and for whom. `me` is None for somebody without a name. Of `text` the beginning counts."""

    text: str
    me: AccountId | None
    limit: int
    offset: int = 0
    resolve: bool = False
    following: bool = False
    exclude_unreviewed: bool = False
    author_id: AccountId | None = None
    max_id: int | None = None
    min_id: int | None = None

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "text", self.text[:LONGEST])

    @property
    def is_url(self) -> bool:
        return _URL.match(self.text) is not None


# People


async def find_people(work: Work, wish: Search) -> list[people.AccountRow]:
    """Whoever is called exactly so first; then those whose words match, those one follows before the others."""
    top = await _exactly(work, wish)
    if wish.is_url:
        return [top] if top is not None and not wish.offset else []
    shown = [top] if top is not None and not wish.offset else []
    before = 1 if top is not None and wish.offset else 0
    terms = _terms(wish)
    if not terms or wish.limit <= len(shown):
        return shown[: wish.limit]
    rows = await queries.find_people(
        work,
        wish.me,
        terms,
        key=_key(wish.text),
        following=wish.following and wish.me is not None,
        without=None if top is None else top.id,
        limit=wish.limit - len(shown),
        offset=wish.offset - before,
    )
    return [*shown, *rows]


async def _exactly(work: Work, wish: Search) -> people.AccountRow | None:
    """Whoever the text names, known here or, if `resolve`, elsewhere."""
    id = await _account_at(work, wish) if wish.is_url else await _named(work, wish)
    if id is None:
        return None
    if wish.following and wish.me is not None and not await queries.is_mine(work, wish.me, id):
        return None
    rows = await work.db.all(_lines, ids=[id])
    return rows[0] if rows else None


_lines = people.by_ids


async def _account_at(work: Work, wish: Search) -> AccountId | None:
    """Whose address it is, here or, if `resolve`, elsewhere."""
    known = await queries.account_at(work, wish.text)
    if known is None and await _may_look_elsewhere(work, wish):
        found = await work.find(Elsewhere).look_up(work, wish.text)  # type: ignore[type-abstract]
        known = None if found is None else found.account_id
    return known


async def _may_look_elsewhere(work: Work, wish: Search) -> bool:
    """Not for strangers, nor for what is known here; and the second list of a search finds what the first has kept."""
    return wish.resolve and wish.me is not None and not wish.offset and await queries.status_at(work, wish.text) is None


async def _named(work: Work, wish: Search) -> AccountId | None:
    if _HANDLE.match(wish.text) is None:
        return None
    try:
        if wish.resolve and wish.me is not None:
            return (await accounts_finding.find_anywhere(work, wish.text)).id
        name, domain = accounts_finding.split_acct(work, wish.text)
        found = await accounts.find_named(work.db, name, domain)
    except NotFound:
        return None
    return None if found is None or found.is_gone else found.id


def _terms(wish: Search) -> list[Term]:
    """Every word may be the beginning of a longer one. Somebody without a name must know three letters."""
    text = wish.text.strip().removeprefix("@")
    if wish.me is None and len(text) < SHORTEST:
        return []
    found = (to_term(word, is_open=True) for word in text.replace("@", " ").split())
    return list(islice((term for term in found if term is not None), MOST_TERMS))


def _key(text: str) -> str:
    return normal(text.strip().removeprefix("@").partition("@")[0])


# Tags


async def find_tags(work: Work, wish: Search) -> list[Tag]:
    name = written_tag(wish.text)
    if not is_tag(name):
        return []
    return await queries.find_tags(
        work, normal_tag(name), reviewed=wish.exclude_unreviewed, limit=wish.limit, offset=wish.offset
    )


# Statuses


async def find_statuses(work: Work, wish: Search, *, is_all: bool) -> list[StatusRow]:
    """`is_all`: statuses are all that is looked for, so that a search without a word is a mistake."""
    if wish.me is None:
        return []
    if wish.is_url:
        return await _at(work, wish)
    asked = read(wish.text)
    if not asked.wanted and asked.within != "library":
        if is_all or asked.filters or asked.unwanted:
            raise Malformed(NO_WORDS)
        return []
    filters = await _filters(work, wish.me, asked)
    if filters is None:
        return []
    return await queries.find_statuses(
        work,
        wish.me,
        within=asked.within,
        wanted=asked.wanted,
        unwanted=asked.unwanted,
        filters=filters,
        author_id=wish.author_id,
        max_id=wish.max_id,
        min_id=wish.min_id,
        limit=wish.limit,
        offset=wish.offset,
    )


async def _at(work: Work, wish: Search) -> list[StatusRow]:
    """A status by its address, if the searcher may see it."""
    id = None if wish.offset else await _status_at(work, wish)
    if id is None or await statuses.find_visible(work.db, id, wish.me) is None:
        return []
    return await work.db.all(queries.by_ids, ids=[id], me=wish.me)


async def _status_at(work: Work, wish: Search) -> StatusId | None:
    known = await queries.status_at(work, wish.text)
    if known is None and wish.resolve and await queries.account_at(work, wish.text) is None:
        found = await work.find(Elsewhere).look_up(work, wish.text)  # type: ignore[type-abstract]
        known = None if found is None else found.status_id
    return known


async def _filters(work: Work, me: AccountId, asked: SearchQuery) -> list[SearchOperator] | None:
    """Several authors, or several languages, are as good as one of them. None: nothing can be found."""
    kept = [one for one in asked.filters if one.kind not in ("from", "language")]
    for negated in (False, True):
        names = [one.value for one in asked.filters if one.kind == "from" and one.negated is negated]
        ids = await _authors(work, me, names)
        if names and not ids and not negated:
            return None
        if ids:
            kept.append(SearchOperator("from", ids, negated))
        languages = [one.value for one in asked.filters if one.kind == "language" and one.negated is negated]
        if languages:
            kept.append(SearchOperator("language", languages, negated))
    return sorted(kept, key=lambda one: (one.kind, one.negated))


async def _authors(work: Work, me: AccountId, names: Sequence[str]) -> list[AccountId]:
    known = [accounts_finding.split_acct(work, name) for name in names if name != "me"]
    found = await accounts.find_all_named(work.db, [(name.lower(), domain) for name, domain in known])
    return [*([me] if "me" in names else []), *(account.id for account in found.values())]
