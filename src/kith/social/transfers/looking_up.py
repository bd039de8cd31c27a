"""Whom and what rows are about: asked for elsewhere where it is not known here, as often as others can bear.

Whoever writes a file names any host as often as they like. So what is asked for is counted for whoever is asked and
for whoever wants it, and a host that knows none of many rows is not asked for the others.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec

from kith.base.errors import Problem, Throttled
from kith.base.http.sites import site_of_domain
from kith.base.http.urls import parse_url
from kith.base.limits import Limiter, LimitRule
from kith.base.work import Work
from kith.social.accounts import lookup
from kith.social.accounts import store as accounts
from kith.social.accounts.directory import Directory
from kith.social.ids import AccountId
from kith.social.search.elsewhere import Elsewhere
from kith.social.statuses import store as statuses
from kith.social.transfers.tables import Import, ImportRow

__all__ = ["LookedUp", "look_up"]

OF_SITE = LimitRule("import-site", most=300, seconds=300)  # by registered domain, whoever imports
OF_ACCOUNT = LimitRule("import-account", most=600, seconds=300)
OPENED_AT_SITE = LimitRule("import-opened", most=300, seconds=300)  # people who are known, whose profile may be old
MISSES = 20  # rows in a row that a host did not know: then it is not asked for the rest of the file
MOST_HOSTS = 1_000  # whose misses are kept
SECONDS = 10.0  # for one step; what is left of it is for the next


class LookedUp(msgspec.Struct):
    """What was found by the rows' ids, None for what was not. Rows that are missing have to wait, for so many seconds.

    `misses`: how many rows of each host were not found since one was.
    """

    found: dict[int, int | None]
    misses: dict[str, int]
    wait: int = 0


async def look_up(work: Work, of: Import, rows: Sequence[ImportRow], misses: dict[str, int]) -> LookedUp:
    """Nothing may have been written yet."""
    told = LookedUp({}, dict(misses))
    until = time.monotonic() + SECONDS
    for row in rows:
        if time.monotonic() >= until:
            break
        try:
            told.found[row.id] = await _look_up(work, of, row.data, told.misses)
        except Throttled as error:
            told.wait = error.retry_after
            break
    return told


async def _look_up(work: Work, of: Import, data: dict[str, Any], misses: dict[str, int]) -> int | None:
    if of.kind == "domain_blocking":
        return 0
    if of.kind == "bookmarks":
        return await _post(work, of.account_id, data["uri"], misses)
    return await _person(work, of.account_id, data["acct"], misses)


async def _person(work: Work, me: AccountId, acct: str, misses: dict[str, int]) -> int | None:
    name, domain = lookup.split_acct(work, acct)
    directory = work.find(Directory)  # type: ignore[type-abstract]
    found = await accounts.find_named(work.db, name, domain)
    if domain and (found is None or found.deleted_at is not None):
        if _is_given_up(work, me, domain, misses):
            return None
        with suppress(Problem):
            found = await directory.find(work, name, domain)
        _note(misses, domain, was_found=found is not None)
    elif found is not None and domain:
        with suppress(Throttled):
            work.find(Limiter).spend(OPENED_AT_SITE, site_of_domain(domain))
            await directory.opened(work, found.id)
    return None if found is None or not found.is_listed or found.is_gone else found.id


async def _post(work: Work, me: AccountId, uri: str, misses: dict[str, int]) -> int | None:
    known = await statuses.find_by_uri(work.db, uri)
    if known is not None:
        return known.id
    host = _host_of(uri)
    if host is None:
        return None
    is_ours = work.settings.is_own_domain(host)
    if not is_ours and _is_given_up(work, me, host, misses):
        return None
    found = None
    with suppress(Problem):
        found = await work.find(Elsewhere).look_up(work, uri)  # type: ignore[type-abstract]
    if not is_ours:
        _note(misses, host, was_found=found is not None)
    return None if found is None else found.status_id


def _host_of(uri: str) -> str | None:
    try:
        return parse_url(uri).authority.rpartition("@")[2].lower() or None
    except ValueError:
        return None


def _is_given_up(work: Work, me: AccountId, host: str, misses: dict[str, int]) -> bool:
    """If not, it is asked; raises `Throttled` where that has to wait."""
    if misses.get(host, 0) >= MISSES:
        return True
    limiter = work.find(Limiter)
    limiter.spend(OF_ACCOUNT, str(me))
    try:
        limiter.spend(OF_SITE, site_of_domain(host))
    except Throttled:
        limiter.unspend(OF_ACCOUNT, str(me))
        raise
    return False


def _note(misses: dict[str, int], host: str, *, was_found: bool) -> None:
    if was_found:
        misses.pop(host, None)
        return
    misses[host] = misses.get(host, 0) + 1
    if len(misses) > MOST_HOSTS:
        del misses[min(misses, key=lambda name: misses[name])]
