"""Accounts as somebody asks for them: by id, by name, as themselves."""

from __future__ import annotations

from typing import Any

from kith.base.db import Query
from kith.base.errors import Gone, NotFound
from kith.base.work import Work
from kith.social.accounts import lines, store
from kith.social.accounts.directory import Directory
from kith.social.accounts.lines import StandingRow
from kith.social.accounts.tables import Account


async def line_of(work: Work, id: int) -> StandingRow:
    """Whoever waits to be let in is not there yet; who is gone for good is gone."""
    return await _line(work, lines.by_id, account=id)


async def line_named(work: Work, acct: str) -> StandingRow:
    """By `name`, `@name` or `name@domain`, among those who are known: nobody is asked elsewhere."""
    name, domain = split_acct(work, acct)
    return await _line(work, lines.by_name, key=name.lower(), domain=domain)


async def _line(work: Work, query: Query[StandingRow], **values: Any) -> StandingRow:
    row = await work.db.one(query, **values)
    if row is None or not row.is_listed:
        raise NotFound
    if row.deleted_at is not None:
        raise Gone
    return row


async def find_anywhere(work: Work, acct: str) -> Account:
    """By name, here or elsewhere; whoever is not known yet is looked up there."""
    name, domain = split_acct(work, acct)
    found = await store.find_named(work.db, name, domain)
    directory = work.find(Directory)  # type: ignore[type-abstract]
    if name and domain and (found is None or found.deleted_at is not None):
        found = await directory.find(work, name, domain)
    elif found is not None and domain and not work.db.is_writing:
        await directory.opened(work, found.id)
    if found is None or not found.is_listed or found.is_gone:
        raise NotFound
    return found


def split_acct(work: Work, acct: str) -> tuple[str, str]:
    """Name and domain; ours is empty."""
    name, _, domain = acct.strip().removeprefix("@").partition("@")
    domain = domain.lower()
    return name, "" if work.settings.is_own_domain(domain) else domain
