"""The SQL statements of a collection, made from its declaration and compiled once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Generic

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    FromClause,
    String,
    Table,
    bindparam,
    cast,
    delete,
    func,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy import Text as SQLText

from kith.base.db import METADATA, Command, Query, Session, any_of, command, insert_into, not_over, query, upsert
from kith.identity.rest.fields import Object, Reference, References, Secret
from kith.identity.rest.record import TIME, R, attribute_names, is_shown
from kith.identity.rest.resource import Resource

MOST_TERMS = 10


class StoredRecord(msgspec.Struct, Generic[R]):
    """A record as it is stored: by field name with what is never shown (secrets sealed), and as a struct."""

    values: dict[str, Any]
    record: R


class RecordStore(Generic[R]):
    """Reads and writes the records of a collection; `key` is their identifier's column."""

    def __init__(self, resource: Resource[R]) -> None:
        self.resource = resource
        self.tables = resource.tables
        self._make = resource.record
        self.attributes = attribute_names(resource.record)
        self.field_names = {attribute: name for name, attribute in self.attributes.items()}
        self.key = self._column(resource.key)
        self.row_key = self.tables[0].primary_key.columns[0]  # what a family's rows are joined by
        self._only: ColumnElement[bool] | None = resource.only
        if resource.kind:
            self._only = self.tables[0].c.kind == resource.kind
        stored = [field for field in resource.all_fields if field.is_stored]
        self.shown = {f.name: self._column(f.column_name) for f in stored if is_shown(f)}
        self.stored = {field.name: self._column(field.column_name) for field in stored}
        self.links = [field for field in resource.all_fields if isinstance(field, References)]
        self.secrets = [field for field in resource.all_fields if isinstance(field, Secret) and field.shown]
        self.hiding = [field for field in resource.all_fields if isinstance(field, Object) and field.hides]
        self.guarded = [field for field in resource.all_fields if field.guarded]
        self.times = resource.times
        moments = {field.name for field in resource.all_fields if field.holds() == TIME} | set(self.times)
        self._moments = [attribute for name, attribute in self.attributes.items() if name in moments]
        # The attributes for a row's values; the key, which comes first, is used for `pk` too.
        self._row_attributes = ("pk", *(self.attributes[name] for name in (resource.key, *self.shown, *self.times)))
        self.sortable = {f.name: self._column(f.column_name) for f in stored if f.is_scalar}
        self.sortable |= {"pk": self.key, resource.key: self.key} | self.times
        self.is_large = False
        self.page_query = lru_cache(512)(self._page_query)
        self.count_query = lru_cache(512)(self._count_query)
        self.following_query = lru_cache(64)(self._following_query)
        self._update = lru_cache(256)(self._update_command)
        self.by_key = query(lambda: self._select().where(self.key == bindparam("id")), tuple)
        self.by_row_key = query(lambda: self._select().where(self.row_key == bindparam("id")), tuple)
        self._row_key = query(
            lambda: select(self.row_key).select_from(self.source).where(self.key == bindparam("id")), object
        )
        self.one_row = query(self._held, tuple)
        self._seen_row = query(self._seen, tuple)

    def _seen(self) -> Any:
        columns = (self.key, *self.stored.values(), *self.times.values())
        return self._narrowed(select(*columns).select_from(self.source).where(self.key == bindparam("id")))

    def _held(self) -> Any:
        """Locked against changes, but not against new rows that refer to it."""
        return self._seen().with_for_update(of=list(self.tables), key_share=True)

    def _column(self, name: str) -> Column[Any]:
        for table in reversed(self.tables):
            if name in table.c:
                return table.c[name]
        raise LookupError(f"{self.resource.path} has no column {name}")

    @property
    def source(self) -> FromClause:
        first, *rest = self.tables
        joined: FromClause = first
        for table in rest:
            joined = joined.join(table, table.primary_key.columns[0] == first.primary_key.columns[0])
        return joined

    def _select(self) -> Any:
        return self._narrowed(select(self.key, *self.shown.values(), *self.times.values()).select_from(self.source))

    def _narrowed(self, statement: Any) -> Any:
        return statement if self._only is None else statement.where(self._only)

    # Reading

    def order(self, asked: Iterable[str]) -> tuple[tuple[str, bool], ...]:
        """The allowed part of the order asked for, else the resource's own. The key is always added at the end."""
        chosen: dict[str, bool] = {}
        for words in (asked, self.resource.order):
            for word in words:
                name = word.strip().lstrip("-")
                if name in self.sortable:
                    chosen.setdefault(name, word.strip().startswith("-"))
            if chosen:
                break
        return tuple(chosen.items())

    def _sorting(self, order: tuple[tuple[str, bool], ...]) -> list[ColumnElement[Any]]:
        """NULLs come last in ascending order, on both databases."""
        clauses: list[ColumnElement[Any]] = []
        for name, descending in order:
            column = self.sortable[name]
            clause: ColumnElement[Any] = column.desc() if descending else column.asc()
            if column.nullable:
                clause = clause.nulls_first() if descending else clause.nulls_last()
            clauses.append(clause)
        if not any(self.sortable[name] is self.key for name, _ in order):
            clauses.append(self.key.asc())
        return clauses

    def _where(
        self, terms: tuple[bool, ...], exact: tuple[str, ...], filters: tuple[str, ...]
    ) -> list[ColumnElement[bool]]:
        clauses: list[ColumnElement[bool]] = [] if self._only is None else [self._only]
        resource = self.resource
        indexed = [f"term{number}" for number, is_indexed in enumerate(terms) if is_indexed]
        if indexed and resource.contains is not None:
            clauses.append(resource.contains(*indexed))
        clauses += [self._holds(f"term{number}") for number, is_indexed in enumerate(terms) if not is_indexed]
        clauses += [self.stored[name] == bindparam(f"is_{name}", type_=self.stored[name].type) for name in exact]
        clauses += [one.clause for one in self.resource.filters if one.name in filters]
        return clauses

    def _holds(self, name: str) -> ColumnElement[bool]:
        """Whether the word bound as `name` is in a record, without an index."""
        if self.resource.contains_part is not None:
            return self.resource.contains_part(name)
        term = bindparam(name, type_=SQLText())
        return or_(*(self._searchable(one).ilike(term, escape="!") for one in self.resource.search))

    def _searchable(self, name: str | ColumnElement[str]) -> ColumnElement[str]:
        if not isinstance(name, str):
            return name
        column = self._column(name) if name != "pk" else self.key
        return column if isinstance(column.type, String) else cast(column, SQLText)

    def _page_query(
        self,
        order: tuple[tuple[str, bool], ...],
        terms: tuple[bool, ...],
        exact: tuple[str, ...],
        filters: tuple[str, ...],
    ) -> Query[Any]:
        """The page's keys are selected first, from the smallest index, then the rows for them."""
        where = self._where(terms, exact, filters)
        keys = (
            select(self.key.label("page_key"))
            .select_from(self.source)
            .where(*where)
            .order_by(*self._sorting(order))
            .limit(bindparam("most"))
            .offset(bindparam("skip"))
            .subquery("page")
        )
        rows = self._select().join(keys, self.key == keys.c.page_key).order_by(*self._sorting(order))
        return query(rows, tuple)

    def _following_query(
        self, terms: tuple[bool, ...], exact: tuple[str, ...], filters: tuple[str, ...], *, is_first: bool
    ) -> Query[Any]:
        """The next rows of an export, behind those that end at a place; its order has an index."""
        by = self.sortable[self.resource.export_by]
        order = [self.key] if by is self.key else [by, self.key]
        where = self._where(terms, exact, filters)
        if not is_first:
            binds = [bindparam(f"after{number}", type_=column.type) for number, column in enumerate(order)]
            where.append(tuple_(*order) > tuple_(*binds) if len(order) > 1 else order[0] > binds[0])
        return query(self._select().where(*where).order_by(*order).limit(bindparam("most")), tuple)

    def _count_query(self, terms: tuple[bool, ...], exact: tuple[str, ...], filters: tuple[str, ...]) -> Query[int]:
        where = self._where(terms, exact, filters)
        return query(select(func.count()).select_from(self.source).where(*where), int)

    def record(self, row: Sequence[Any]) -> R:
        """Without its lists of references, and without what is worked out."""
        return self._make(**dict(zip(self._row_attributes, (row[0], *row), strict=True)))

    async def find(self, db: Session, id: Any) -> R | None:
        """A record as `record` gives it."""
        row = await db.one(self.by_key, id=id)
        return None if row is None else self.record(row)

    async def find_stored(self, db: Session, id: Any, *, held: bool = True) -> StoredRecord[R] | None:
        """A record with its lists of references; `held` until the work ends, or not."""
        row = await db.one(self.one_row if held else self._seen_row, id=id)
        if row is None:
            return None
        values = {self.resource.key: row[0]} | dict(zip((*self.stored, *self.times), row[1:], strict=True))
        for field in self.links:
            values[field.name] = (await linked(db, field, [id])).get(id, [])
        known = {self.attributes[name]: value for name, value in values.items() if name in self.attributes}
        known |= {self.attributes[field.name]: "" for field in self.secrets}
        stored = {name: value for name, value in values.items() if name not in self.times}
        return StoredRecord(stored, self.resource.record(pk=row[0], **known))

    def write_moments(self, records: Iterable[R]) -> None:
        """Make whole seconds text just before encoding: the encoder would leave out their fraction."""
        for record in records:
            for attribute in self._moments:
                at = getattr(record, attribute)
                if at is not None and not at.microsecond:
                    setattr(record, attribute, at.isoformat(timespec="microseconds")[:-6] + "Z")

    async def find_row_key(self, db: Session, id: Any) -> Any:
        return await db.one(self._row_key, id=id)

    # Writing

    async def insert(self, db: Session, values: Mapping[str, Any], columns: Mapping[str, Any]) -> Any:
        everything = {**self._by_column(values), **columns}
        key: Any = columns.get(self.row_key.name)
        for number, table in enumerate(self.tables):
            row = {c.name: everything.get(c.name) for c in table.columns}
            if number == 0 and key is None:
                row.pop(self.row_key.name)
                key = await db.one(_insert_query(table), **row)
            else:
                row[self.row_key.name] = key
                await db.run(_insert_command(table), **row)
        return columns.get(self.resource.key, key)

    def _by_column(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {self.stored[name].name if name in self.stored else name: value for name, value in values.items()}

    def _update_command(self, table: Table, names: frozenset[str]) -> Command:
        values = {name: bindparam(f"new_{name}", type_=table.c[name].type) for name in sorted(names)}
        return command(update(table).where(table.primary_key.columns[0] == bindparam("row_id")).values(values))

    async def update(self, db: Session, row_id: Any, values: Mapping[str, Any]) -> None:
        named = self._by_column(values)
        for table in self.tables:
            mine = {name: value for name, value in named.items() if name in table.c}
            if mine:
                statement = self._update(table, frozenset(mine))
                await db.run(statement, row_id=row_id, **{f"new_{name}": value for name, value in mine.items()})

    async def delete(self, db: Session, row_id: Any) -> None:
        await db.run(_delete_command(self.tables[0]), row_id=row_id)


@lru_cache(256)
def _insert_command(table: Table) -> Command:
    return command(insert_into(table))


@lru_cache(64)
def _insert_query(table: Table) -> Query[int]:
    """For a table whose key is made by the database."""
    key = table.primary_key.columns[0]
    return query(insert_into(table, without=[key.name]).returning(key), int)


@lru_cache(256)
def _delete_command(table: Table) -> Command:
    return command(delete(table).where(table.primary_key.columns[0] == bindparam("row_id")))


# Lists of references


@lru_cache(256)
def _linked_query(link: Table, owner: str, other: str, ends: str) -> Query[Any]:
    ours, theirs = link.c[owner], link.c[other]
    live = [not_over(link.c[ends])] if ends else []
    return query(select(ours, theirs).where(any_of(ours, "owners"), *live).order_by(ours, theirs), tuple)


@lru_cache(256)
def _link_commands(link: Table, owner: str, other: str, ends: str) -> tuple[Command, Command]:
    """Adding takes the place of an entry that has ended and is still stored."""
    values = {owner: bindparam("of", type_=link.c[owner].type), other: bindparam("to", type_=link.c[other].type)}
    same = [link.c[name] == value for name, value in values.items()]
    add = upsert(link).values(values)
    if ends:
        again = add.on_conflict_do_update(index_elements=[link.c[owner], link.c[other]], set_={ends: None})
    else:
        again = add.on_conflict_do_nothing()
    return command(again.inline()), command(delete(link).where(*same))


async def linked(db: Session, field: References, owners: Sequence[Any]) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    for owner, other in await db.all(
        _linked_query(field.link, field.owner, field.other, field.ends), owners=list(owners)
    ):
        found.setdefault(owner, []).append(other)
    return found


async def relink(db: Session, field: References, owner: Any, before: Sequence[Any], after: Sequence[Any]) -> None:
    """Change the stored list to `after`; only differences are written.

    They are written in order, so that two transactions which write the same links from both sides cannot deadlock.
    """
    add, remove = _link_commands(field.link, field.owner, field.other, field.ends)
    gone, new = set(before) - set(after), set(after) - set(before)
    if gone:
        await db.many(remove, [{"of": owner, "to": other} for other in sorted(gone)])
    if new:
        await db.many(add, [{"of": owner, "to": other} for other in sorted(new)])


# Checking references


@lru_cache(256)
def _existing(to: str, where: tuple[tuple[str, Any], ...]) -> Query[Any]:
    table_name, _, column_name = to.partition(".")
    table = METADATA.tables[table_name]
    clauses = [any_of(table.c[column_name], "ids"), *(table.c[name] == value for name, value in where)]
    return query(select(table.c[column_name]).where(*clauses), object)


async def missing_references(db: Session, field: Reference | References, ids: Sequence[Any]) -> list[Any]:
    found = set(await db.all(_existing(field.to, field.where), ids=list(ids)))
    return [id for id in ids if id not in found]
