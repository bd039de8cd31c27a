"""Checks unique constraints before writing, so that the error names the field."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sqlalchemy import Table, UniqueConstraint, bindparam, select

from kith.base.db import Query, query
from kith.identity.rest.record_draft import RecordDraft
from kith.identity.rest.record_store import RecordStore


@lru_cache(256)
def _rules(table: Table) -> tuple[tuple[str, ...], ...]:
    """The sets of columns that must be unique, in the order they were declared."""
    found = [tuple(c.name for c in one.columns) for one in table.constraints if isinstance(one, UniqueConstraint)]
    found += [tuple(c.name for c in index.columns) for index in table.indexes if index.unique]
    return tuple(sorted(found, key=lambda names: (len(names), names)))


@lru_cache(256)
def _clash(table: Table, names: tuple[str, ...]) -> Query[Any]:
    key = table.primary_key.columns[0]
    same = [table.c[name] == bindparam(f"is_{name}", type_=table.c[name].type) for name in names]
    return query(select(key).where(*same).limit(2), object)


async def complain_taken(store: RecordStore[Any], draft: RecordDraft[Any]) -> None:
    everything = {**draft.stored, **draft.values, **draft.columns}
    for table in store.tables:
        for names in _rules(table):
            if not any(draft.sets(name) or name in draft.columns for name in names):
                continue
            if any(everything.get(name) is None for name in names):
                continue
            found = await draft.work.db.all(_clash(table, names), **{f"is_{name}": everything[name] for name in names})
            mine = everything.get(table.primary_key.columns[0].name, draft.id)
            if [key for key in found if draft.is_new or key != mine]:
                _complain(draft, names)
    draft.raise_complaints()


def _complain(draft: RecordDraft[Any], names: tuple[str, ...]) -> None:
    shown = [name.removesuffix("_key") for name in names]
    if len(shown) > 1:
        draft.complain("", f"The fields {', '.join(shown)} must make a unique set.", "unique")
    elif shown == ["username"]:
        draft.complain("username", "A user with that username already exists.", "unique")
    else:
        draft.complain(shown[0], "This field must be unique.", "unique")
