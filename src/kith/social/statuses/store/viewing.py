"""What a viewer has to do with posts: their marks on them, and whether they may see what is quoted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Integer, String, and_, bindparam, case, literal_column, or_, select, union_all

from kith.base.db import Session, any_of, query, rows_as_json
from kith.social.ids import AccountId, StatusId
from kith.social.relationships import rules
from kith.social.relationships.follow_source import Following
from kith.social.statuses import access
from kith.social.statuses.access import ME
from kith.social.statuses.lines import A, S
from kith.social.statuses.tables import bookmarks, conversation_mutes, favourites, pins, statuses


class Flag(NamedTuple):
    """Something that the viewer has to do with a status, a conversation or an author."""

    flag: int
    id: int


FAVOURITED, REBLOGGED, BOOKMARKED, MUTED, PINNED, FOLLOWED = range(6)
_NEAR = 50
_boosts = and_(statuses.c.account_id == ME, statuses.c.deleted_at.is_(None))
_marked: tuple[tuple[int, Any, Any, str], ...] = (
    (FAVOURITED, favourites.c.status_id, favourites.c.account_id == ME, "ids"),
    (REBLOGGED, statuses.c.reblog_of_id, _boosts, "ids"),
    (BOOKMARKED, bookmarks.c.status_id, bookmarks.c.account_id == ME, "ids"),
    (PINNED, pins.c.status_id, pins.c.account_id == ME, "ids"),
    (MUTED, conversation_mutes.c.conversation_id, conversation_mutes.c.account_id == ME, "conversations"),
)


def _flag(flag: int, column: Any, clause: Any) -> Any:
    return select(literal_column(str(flag), Integer).label("flag"), column.label("id")).where(clause)


# The viewer's marks on whatever lies between two ids: a look at each list of them, and most have none there.
_near_rows = union_all(
    *(
        select(
            _flag(flag, column, and_(mine, column.between(bindparam(f"least_{of}"), bindparam(f"most_{of}"))))
            .limit(literal_column(str(_NEAR)))
            .subquery()
        )
        for flag, column, mine, of in _marked
    )
).subquery("page")
_near = query(select(rows_as_json(_near_rows)).select_from(_near_rows), str)
_read_flags = msgspec.json.Decoder(list[Flag]).decode
_mine = Following("mine")
_flags = query(
    union_all(
        *(_flag(flag, column, and_(mine, any_of(column, of))) for flag, column, mine, of in _marked),
        _flag(FOLLOWED, _mine.followed, and_(_mine.follower == ME, any_of(_mine.followed, "authors"))),
    ),
    Flag,
)


def _word(word: str) -> Any:
    return literal_column(f"'{word}'", String)


# What stands between the viewer and something that is quoted.
_gone: tuple[Any, Any] = (S.c.deleted_at.is_not(None), _word("deleted"))
_in_the_way: tuple[tuple[Any, Any], ...] = (
    (rules.blocks_domain(ME, A.c.domain), _word("blocked_domain")),
    (rules.blocks(ME, S.c.account_id), _word("blocked_account")),
    (rules.mutes(ME, S.c.account_id), _word("muted_account")),
)
_standing = {
    anonymous: query(
        select(S.c.id, case(_gone, *(() if anonymous else _in_the_way), else_=_word("accepted")))
        .select_from(S.join(A, A.c.id == S.c.account_id))
        .where(and_(any_of(S.c.id, "ids"), or_(_gone[0], access.visible_for(S, A, anonymous=anonymous)))),
        tuple,
    )
    for anonymous in (False, True)
}


class Stretch(NamedTuple):
    """Some statuses, each in its version, and their conversations, and between which ids they are."""

    ids: tuple[StatusId, ...]
    versions: tuple[int, ...]
    conversations: tuple[int, ...]
    least_id: int
    most_id: int
    least_conversation: int
    most_conversation: int

    @classmethod
    def of(cls, statuses: Iterable[tuple[StatusId, int, int]]) -> Stretch:
        """Of statuses with their versions, without counts, and conversations: at least one."""
        ids, versions, conversations = zip(*statuses, strict=True)
        return cls(ids, versions, conversations, min(ids), max(ids), min(conversations), max(conversations))


async def flags_of(db: Session, me: AccountId, stretch: Stretch, authors: Sequence[int] = ()) -> list[Flag]:
    """What the viewer has to do with each of them, and perhaps with others."""
    if not authors:
        near = await db.one(
            _near,
            me=me,
            least_ids=stretch.least_id,
            most_ids=stretch.most_id,
            least_conversations=stretch.least_conversation,
            most_conversations=stretch.most_conversation,
        )
        found = _read_flags(near) if near else []
        if len(found) < _NEAR:
            return found
    ids, conversations = list(stretch.ids), list(stretch.conversations)
    return await db.all(_flags, me=me, ids=ids, conversations=conversations, authors=list(authors))


async def standing_of(db: Session, me: AccountId | None, ids: Sequence[int], now: datetime) -> dict[int, str]:
    """How statuses that are quoted stand with the viewer; those that they may not see are left out."""
    values: dict[str, Any] = {"ids": list(ids)} if me is None else {"ids": list(ids), "me": me, "now": now}
    return dict(await db.all(_standing[me is None], **values))
