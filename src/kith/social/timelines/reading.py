"""Timelines as queries: home, public, tag, list, an account's own, favourites, bookmarks, direct."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import (
    ColumnElement,
    Integer,
    Text,
    and_,
    bindparam,
    cast,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
    true,
)

from kith.base.db import Instant, alias_of, any_of, mostly_true
from kith.base.paging import Cursor
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import preferences
from kith.social.feeds.store import READY
from kith.social.feeds.tables import feed_states, feeds
from kith.social.id_lists import IdList
from kith.social.ids import AccountId
from kith.social.relationships import rules
from kith.social.statuses import access
from kith.social.statuses.lines import TA, A, MarkedRow, S, lines
from kith.social.statuses.tables import DIRECT, PUBLIC, bookmarks, favourites, mentions, pins, statuses
from kith.social.tags.tables import status_tags

Clause = ColumnElement[bool]


class HomePage(NamedTuple):
    """`is_kept` is 1 where the feed is known to be whole, and its owner to have been here of late."""

    rows: str | None
    is_kept: int | None


_fed = feeds.join(S, S.c.id == feeds.c.status_id)
_own = feeds.c.owner == bindparam("owner")
_feed = IdList(lambda: lines(_fed, anonymous=False).where(_own), feeds.c.status_id)
_is_kept = (
    select(literal_column("1", Integer))
    .where(
        and_(
            feed_states.c.account_id == bindparam("owner"),
            feed_states.c.state == literal_column(f"'{READY}'"),
            feed_states.c.active_at > bindparam("noted", type_=Instant()),
        )
    )
    .scalar_subquery()
)
_home = IdList(lambda: lines(_fed, anonymous=False).where(_own), feeds.c.status_id, beside=(_is_kept,))


async def home(work: Work, me: AccountId, cursor: Cursor, noted: datetime) -> HomePage:
    """What is there of somebody's home, and whether it is known to be whole and theirs since `noted`."""
    return HomePage(*await _page(work, _home, cursor, owner=me, me=me, noted=noted))


async def feed(work: Work, owner: int, me: AccountId, cursor: Cursor) -> str | None:
    """Of a list."""
    return await _rows(work, _feed, cursor, owner=owner, me=me)


async def _rows(work: Work, walk: IdList, cursor: Cursor, *, is_far: bool = False, **values: Any) -> str | None:
    """Rows of statuses as JSON, as `statuses.pages` reads them; None where there are none.

    `is_far`: whoever asks has narrowed it, so that there may be far to walk until a page is full.
    """
    found: str | None = (await _page(work, walk, cursor, is_far=is_far, **values))[0]
    return found


async def _page(work: Work, walk: IdList, cursor: Cursor, *, is_far: bool = False, **values: Any) -> tuple[Any, ...]:
    statement, params = walk.page_form(cursor)
    ask = work.db.slow if is_far else work.db.all
    found: list[tuple[Any, ...]] = await ask(statement, now=work.now, **params, **values)
    return found[0]


async def _marked_rows(work: Work, walk: IdList, cursor: Cursor, **values: Any) -> list[MarkedRow]:
    statement, params = walk.form(cursor)
    return cursor.newest_first(await work.db.all(statement, now=work.now, **params, **values))


@lru_cache(64)
def _public(*, anonymous: bool, local: bool, remote: bool, only_media: bool) -> IdList:
    return IdList(
        lines(anonymous=anonymous).where(
            and_(
                *_open(anonymous=anonymous, local=local, remote=remote, only_media=only_media),
                *_in_chosen_language(anonymous=anonymous),
                or_(S.c.in_reply_to_id.is_(None), S.c.in_reply_to_account_id == S.c.account_id),
            )
        ),
        S.c.id,
    )


def _open(*, anonymous: bool, local: bool, remote: bool, only_media: bool) -> list[Clause]:
    """What timelines for everybody are made of."""
    clauses: list[Clause] = [
        access.shown_to(S, PUBLIC),
        access.is_no_boost(S.c.reblog_of_id),
        S.c.deleted_at.is_(None),
        A.c.silenced_at.is_(None),
        rules.shows_author(None if anonymous else rules.ME, A),
    ]
    if local != remote:
        clauses.append(S.c.local if local else ~S.c.local)
    if only_media:
        clauses.append(_has_media())
    return clauses


def _in_chosen_language(*, anonymous: bool) -> list[Clause]:
    """Of those the viewer wants to read, if they have chosen any; what does not say its language, and their own.

    Whoever asks for a tag wants all that is said under it. Where either of them is unknown, so is what LIKE says; asked
    for one by one, PostgreSQL would take each for rare, and read everything rather than walk until a page is full.
    """
    if anonymous:
        return []
    chosen = select(cast(preferences.c.chosen_languages, Text)).where(preferences.c.account_id == rules.ME)
    wanted = chosen.scalar_subquery()
    named = wanted.like(literal('%"').concat(S.c.language).concat('"%'))
    return [or_(func.coalesce(named, true()), S.c.account_id == rules.ME)]


def _has_media() -> Clause:
    return func.length(cast(S.c.media_ids, Text)) > 2  # more than "[]"


async def public(
    work: Work, me: AccountId | None, cursor: Cursor, *, local: bool, remote: bool, only_media: bool
) -> str | None:
    walk = _public(anonymous=me is None, local=local, remote=remote, only_media=only_media)
    is_far = only_media or remote or (me is not None and await _has_chosen_languages(work, me))
    return await _rows(work, walk, cursor, is_far=is_far, me=me)


async def _has_chosen_languages(work: Work, me: AccountId) -> bool:
    return bool((await accounts.find_preferences(work.db, me)).chosen_languages)


@lru_cache(128)
def _tagged(*, anonymous: bool, local: bool, remote: bool, only_media: bool, required: int, unwanted: bool) -> IdList:
    """What has one tag, and one of each further group, and none of `none_ids`.

    What has the tag is walked along, however rare it is among all that is said.
    """
    clauses = _open(anonymous=anonymous, local=local, remote=remote, only_media=only_media)
    clauses += [_has_tag(f"all_{place}") for place in range(required)]
    if unwanted:
        clauses.append(~_has_tag("none_ids"))
    source = status_tags.join(S, S.c.id == status_tags.c.status_id)
    has_tag = status_tags.c.tag_id == bindparam("tag_id")
    return IdList(
        lines(source, anonymous=anonymous).where(and_(has_tag, mostly_true(*clauses))), status_tags.c.status_id
    )


def _has_tag(name: str) -> Clause:
    own = alias_of(status_tags)
    return exists(
        select(own.c.status_id).where(and_(own.c.status_id == S.c.id, any_of(own.c.tag_id, name))).correlate_except(own)
    )


async def tagged(
    work: Work, me: AccountId | None, cursor: Cursor, *, any_of_these: Sequence[int], all_of_these: Sequence[int],
    none_of_these: Sequence[int], local: bool, remote: bool, only_media: bool,
) -> str | None:  # fmt: skip
    """Of several tags each is walked along by itself: together they may be as rare as each of them.

    Other servers may give a tag to what nobody is shown, thousands of times.
    """
    walk = _tagged(
        anonymous=me is None, local=local, remote=remote, only_media=only_media,
        required=len(all_of_these), unwanted=bool(none_of_these),
    )  # fmt: skip
    required = {f"all_{place}": [id] for place, id in enumerate(all_of_these)}
    found = [
        await _rows(work, walk, cursor, is_far=True, me=me, tag_id=tag_id, none_ids=list(none_of_these), **required)
        for tag_id in dict.fromkeys(any_of_these)
    ]
    return found[0] if len(found) == 1 else _together(found, cursor)


def _together(parts: Sequence[str | None], cursor: Cursor) -> str | None:
    """One page of several, in their order."""
    rows = {row[0]: row for part in parts if part is not None for row in msgspec.json.decode(part)}
    if not rows:
        return None
    ids = sorted(rows, reverse=not cursor.is_ascending)
    return msgspec.json.encode([rows[id] for id in ids[: cursor.limit]]).decode()


@lru_cache(2)
def _linking(*, anonymous: bool) -> IdList:
    clauses = _open(anonymous=anonymous, local=False, remote=False, only_media=False)
    clauses += [S.c.card_id == bindparam("card"), A.c.discoverable.is_(True)]
    clauses += _in_chosen_language(anonymous=anonymous)
    return IdList(lines(anonymous=anonymous).where(and_(*clauses)), S.c.id)


async def linking(work: Work, me: AccountId | None, cursor: Cursor, card_id: int) -> str | None:
    """What people who want to be found say to everybody about a link."""
    return await _rows(work, _linking(anonymous=me is None), cursor, is_far=True, me=me, card=card_id)


@lru_cache(64)
def _of_account(
    *, anonymous: bool, only_media: bool, no_replies: bool, no_boosts: bool, no_direct: bool, tagged: bool, own: bool
) -> IdList:
    clauses: list[Clause] = []
    if only_media:
        clauses += [_has_media(), S.c.reblog_of_id.is_(None)]
    if no_replies:
        clauses.append(or_(S.c.in_reply_to_id.is_(None), S.c.in_reply_to_account_id == S.c.account_id))
    if no_boosts:
        clauses.append(S.c.reblog_of_id.is_(None))
    if no_direct:
        clauses.append(~access.shown_to(S, DIRECT))
    if tagged:
        clauses.append(_has_tag("tag_ids"))
    if not anonymous and not own:
        # Boosts of people the viewer does not want to see.
        clauses.append(or_(S.c.reblog_of_id.is_(None), ~rules.hides_author(rules.ME, TA)))
    theirs = S.c.account_id == bindparam("author")
    return IdList(lines(anonymous=anonymous).where(and_(theirs, mostly_true(*clauses))), S.c.id)


async def of_account(
    work: Work, me: AccountId | None, author_id: AccountId, cursor: Cursor, *, only_media: bool = False,
    no_replies: bool = False,
    no_boosts: bool = False, no_direct: bool = False, tag_id: int | None = None,
) -> str | None:  # fmt: skip
    walk = _of_account(
        anonymous=me is None, only_media=only_media, no_replies=no_replies, no_boosts=no_boosts, no_direct=no_direct,
        tagged=tag_id is not None, own=me == author_id,
    )  # fmt: skip
    tag_ids = [] if tag_id is None else [tag_id]
    # Much of what somebody has said may be nothing of what is asked for, or not for whoever asks.
    return await _rows(work, walk, cursor, is_far=me != author_id, me=me, author=author_id, tag_ids=tag_ids)


def _marked(table: Any, *, anonymous: bool, by: ColumnElement[Any]) -> IdList:
    source = table.join(S, S.c.id == table.c.status_id)
    return IdList(
        lambda: lines(source, table.c.id.label("cursor"), anonymous=anonymous).where(by), table.c.id, row=MarkedRow
    )


_pinned = {
    anonymous: _marked(pins, anonymous=anonymous, by=pins.c.account_id == bindparam("author"))
    for anonymous in (False, True)
}
_favourites = _marked(favourites, anonymous=False, by=favourites.c.account_id == access.ME)
_bookmarks = _marked(bookmarks, anonymous=False, by=bookmarks.c.account_id == access.ME)


def _concerning_me() -> Clause:
    """What one has said, and where one is named: found by the person, however much others say."""
    own, named = alias_of(statuses), alias_of(mentions)
    said = select(own.c.id).where(and_(own.c.account_id == access.ME, access.shown_to(own, DIRECT)))
    return S.c.id.in_(said.union_all(select(named.c.status_id).where(named.c.account_id == access.ME)))


_direct = IdList(
    lambda: lines(anonymous=False).where(
        and_(
            access.shown_to(S, DIRECT),
            S.c.reblog_of_id.is_(None),
            _concerning_me(),
            or_(S.c.account_id == access.ME, ~rules.hides_author(rules.ME, A)),
        )
    ),
    S.c.id,
)


async def pinned(work: Work, me: AccountId | None, author_id: AccountId, cursor: Cursor) -> list[MarkedRow]:
    """Newest pin first."""
    return await _marked_rows(work, _pinned[me is None], cursor, me=me, author=author_id)


async def favourited(work: Work, me: AccountId, cursor: Cursor) -> list[MarkedRow]:
    return await _marked_rows(work, _favourites, cursor, me=me)


async def bookmarked(work: Work, me: AccountId, cursor: Cursor) -> list[MarkedRow]:
    return await _marked_rows(work, _bookmarks, cursor, me=me)


async def direct(work: Work, me: AccountId, cursor: Cursor) -> str | None:
    return await _rows(work, _direct, cursor, is_far=True, me=me)
