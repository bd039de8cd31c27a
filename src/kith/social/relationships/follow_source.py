"""Who follows whom, as a source that the statements of other rooms join, with what each follower wants to see."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, FromClause, Text, cast, literal, or_

from kith.base.db import alias_of
from kith.social.relationships.tables import follows

Clause = ColumnElement[bool]


class Following:
    """`source` is joined; the rest are its columns and what they say."""

    def __init__(self, name: str) -> None:
        self.source: FromClause = alias_of(follows, name)
        self.id: ColumnElement[Any] = self.source.c.id  # follows are walked along it
        self.follower: ColumnElement[Any] = self.source.c.account_id
        self.followed: ColumnElement[Any] = self.source.c.target_id
        self.wants_boosts: ColumnElement[Any] = self.source.c.reblogs

    def wants_language(self, language: ColumnElement[Any]) -> Clause:
        """Any, if none is named; and whatever does not say in which language it is."""
        chosen = self.source.c.languages
        # A JSON list of codes, read as text, which both databases can look into alike.
        named = cast(chosen, Text).like(literal('%"').concat(language).concat('"%'))
        return or_(chosen.is_(None), language.is_(None), named)
