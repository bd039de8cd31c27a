"""The query of a list: order, search and filters, within what the resource names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Generic

from kith.base.errors import Complaint, Invalid
from kith.base.paging import OffsetPage
from kith.base.work import Work
from kith.identity.rest import operations
from kith.identity.rest.fields import Boolean, Field, InvalidValue
from kith.identity.rest.record import R
from kith.identity.rest.record_store import MOST_TERMS, RecordStore

MOST_CHARACTERS = 200
SHORTEST = 3
LARGE = 20_000


class ListQuery(Generic[R]):
    """The query of a list, read: its order, the words searched for, exact values and filters with what to bind."""

    def __init__(self, store: RecordStore[R]) -> None:
        self.store = store
        self.order: tuple[tuple[str, bool], ...] = ()
        self.terms: list[str] = []
        self.exact: dict[str, Any] = {}
        self.filters: dict[str, Any] = {}

    @classmethod
    async def read(cls, store: RecordStore[R], work: Work, query: Mapping[str, list[str]]) -> ListQuery[R]:
        """Unknown parameters and orders that are not allowed are ignored; an invalid value of a filter is an error."""
        found = cls(store)
        last = {name: values[-1].replace("\0", "") for name, values in query.items()}
        found.order = store.order(last.get("ordering", "").split(","))
        if store.resource.search:
            words = re.split(r"[\s,]+", last.get("search", "")[:MOST_CHARACTERS])
            found.terms = [word for word in words if word][:MOST_TERMS]
        complaints: dict[str, list[str]] = {}
        found._read_exact(last, complaints)
        await found._read_filters(work, query, complaints)
        if complaints:
            raise Invalid(fields=complaints)
        return found

    def _read_exact(self, last: Mapping[str, str], complaints: dict[str, list[str]]) -> None:
        fields: dict[str, Field] = {field.name: field for field in self.store.resource.all_fields}
        for name in self.store.resource.exact:
            text = last.get(name, "")
            if not text:
                continue
            try:
                self.exact[name] = fields[name].take(text)
            except InvalidValue as error:
                if not isinstance(fields[name], Boolean):
                    complaints[name] = [error.complaint]

    async def _read_filters(self, work: Work, query: Mapping[str, list[str]], complaints: dict[str, list[str]]) -> None:
        for one in self.store.resource.filters:
            given = [text for text in query.get(one.name, []) if text]
            if not given:
                continue
            try:
                values = [one.read(text.replace("\0", "")) for text in (given if one.many else given[-1:])]
            except InvalidValue as error:
                complaints[one.name] = [error.complaint]
                continue
            if values[0] is None:
                continue
            if one.exists is not None:
                found = set(await work.db.all(one.exists, ids=values))
                missing = [text for text, value in zip(given, values, strict=False) if value not in found]
                if missing:
                    shown = f"{missing[0]} is not" if one.many else "That choice is not"
                    words = f"Select a valid choice. {shown} one of the available choices."
                    complaints[one.name] = [Complaint(words, "invalid_choice")]
                    continue
            self.filters[one.name] = (one.bind, values if one.many else values[0])

    def _params(self) -> tuple[tuple[bool, ...], dict[str, Any]]:
        """Which terms have an index, and what to bind."""
        params: dict[str, Any] = {f"is_{name}": value for name, value in self.exact.items()}
        params |= dict(self.filters.values())
        params |= {f"term{number}": _pattern(term) for number, term in enumerate(self.terms)}
        indexed = tuple(self.store.resource.contains is not None and len(term) >= SHORTEST for term in self.terms)
        params |= {f"term{number}_words": term for number, term in enumerate(self.terms) if indexed[number]}
        return indexed, params

    async def fetch_after(self, work: Work, last: R | None, most: int) -> list[R]:
        """The records of an export that come after `last`; the order of the query does not count."""
        store = self.store
        indexed, params = self._params()
        if last is not None:
            by = store.resource.export_by
            place = [last.pk] if by == "pk" else [getattr(last, store.attributes[by]), last.pk]
            params |= {f"after{number}": value for number, value in enumerate(place)}
        found = store.following_query(indexed, tuple(self.exact), tuple(self.filters), is_first=last is None)
        rows = await work.db.slow(found, most=most, **params)
        return await operations.render(store, work, rows, sees_secrets=False)

    async def fetch(self, work: Work, page: OffsetPage) -> tuple[int, list[R]]:
        """The number of records, and those of the page. Secrets are masked in lists."""
        store = self.store
        exact, filters = tuple(self.exact), tuple(self.filters)
        indexed, params = self._params()
        count_query = store.count_query(indexed, exact, filters)
        page_query = store.page_query(self.order, indexed, exact, filters)
        # A statement that may scan a large table runs in a thread.
        if store.is_large or not all(indexed):
            [count] = await work.db.slow(count_query, **params)
            rows = await work.db.slow(page_query, most=page.limit, skip=page.offset, **params)
        else:
            count = await work.db.one(count_query, **params) or 0
            rows = (
                await work.db.all(page_query, most=page.limit, skip=page.offset, **params)
                if count > page.offset
                else []
            )
        if not self.terms and not exact and not filters:
            store.is_large = count > LARGE
        return count, await operations.render(store, work, rows, sees_secrets=False)


def _pattern(term: str) -> str:
    escaped = term.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{escaped}%"
