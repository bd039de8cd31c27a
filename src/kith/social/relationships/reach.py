"""Whom somebody has to do with, as lists of account ids that the statements of other rooms look into."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_, select

from kith.social.relationships.tables import blocks, follow_requests, follows

__all__ = ["asked_since", "blockers_of", "followed_since", "followers_of"]

Ids = Select[Any]
Value = ColumnElement[Any]


def followers_of(account_id: Value) -> Ids:
    return select(follows.c.account_id).where(follows.c.target_id == account_id)


def blockers_of(account_id: Value) -> Ids:
    return select(blocks.c.account_id).where(blocks.c.target_id == account_id)


def followed_since(account_id: Value, since: Value) -> Ids:
    return _since(follows, account_id, since)


def asked_since(account_id: Value, since: Value) -> Ids:
    """Whom somebody has asked lately whether they may follow."""
    return _since(follow_requests, account_id, since)


def _since(table: Table, account_id: Value, since: Value) -> Ids:
    """Rows are numbered by time, so `since` is an id."""
    return select(table.c.target_id).where(and_(table.c.account_id == account_id, table.c.id > since))
