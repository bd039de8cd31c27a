"""Lists: filtered, sorted and by pages (RFC 7644, section 3.4.2).

A filter that names one person or group is answered by an index. Any other one is asked of everybody, in pages, so
that memory does not grow with their number; how often a service may do that is limited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from kith.base.limits import Limiter, LimitRule
from kith.base.work import Work
from kith.identity.rest.fields import read_uuid
from kith.identity.scim.attributes import ResourceType
from kith.identity.scim.errors import ScimError
from kith.identity.scim.filters import FilterNode, fits, read_filter, sought
from kith.identity.scim.projection import ShownAttributes, project, read_shown
from kith.identity.scim.schemas import GROUPS, LIST_RESPONSE, USERS
from kith.identity.sources.scim import store
from kith.identity.sources.scim.entities import render_groups, render_users
from kith.identity.sources.scim.tables import ReceivedGroup, ReceivedUser
from kith.identity.users.names import username_key

SEARCHES = LimitRule("scim-search", most=300, seconds=60)
MOST_LISTED = 200
MOST_MEMBERS = 20_000  # in one answer; a longer list is cut before the group that would exceed it
USUAL_COUNT = 100
PAGE = 200
T = TypeVar("T", bound=ReceivedUser | ReceivedGroup)


class ListQuestion(msgspec.Struct, frozen=True, kw_only=True):
    filter: FilterNode | None
    sort_by: str
    descending: bool
    start: int
    count: int
    shown: ShownAttributes


def read_question(kind: ResourceType, given: Callable[[str], str]) -> ListQuestion:
    text, sort_by = given("filter"), kind.split(given("sortBy"))[1].lower()
    if sort_by and not store.can_sort(sort_by, people=kind is USERS):
        raise ScimError(f"Lists cannot be sorted by {sort_by[:100]}.", "invalidPath")
    return ListQuestion(
        filter=read_filter(kind, text) if text else None,
        sort_by=sort_by or "meta.created",
        descending=given("sortOrder").lower() == "descending",
        start=max(_number(given("startIndex"), "startIndex", 1), 1),
        count=min(max(_number(given("count"), "count", USUAL_COUNT), 0), MOST_LISTED),
        shown=read_shown(kind, given("attributes"), given("excludedAttributes")),
    )


def _number(text: str, name: str, usual: int) -> int:
    if not text:
        return usual
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
        raise ScimError(f"{name} must be a whole number.", "invalidValue")
    return int(text)


class ListedKind(msgspec.Struct, Generic[T], frozen=True):
    """What lists of people and of groups differ in."""

    kind: ResourceType
    page: Callable[..., Awaitable[list[T]]]
    count: Callable[..., Awaitable[int]]
    render: Callable[..., Awaitable[list[dict[str, Any]]]]
    named: Callable[[Work, str, FilterNode], Awaitable[list[T] | None]]


async def list_resources(
    work: Work, source: str, root: str, listed: ListedKind[T], question: ListQuestion
) -> dict[str, Any]:
    if question.filter is None:
        total = await listed.count(work.db, source)
        rows = await _page(work, source, listed, question, most=question.count, skipped=question.start - 1)
        rows = await _within_limits(work, rows, question)
        found = await listed.render(work, source, root, rows, question.shown)
    else:
        total, found = await _search(work, source, root, listed, question, question.filter)
    return {
        "schemas": [LIST_RESPONSE],
        "totalResults": total,
        "startIndex": question.start,
        "itemsPerPage": len(found),
        "Resources": [project(listed.kind, one, question.shown) for one in found],
    }


async def _page(
    work: Work, source: str, listed: ListedKind[T], question: ListQuestion, *, most: int, skipped: int
) -> list[T]:
    if not most:
        return []
    return await listed.page(work.db, source, (question.sort_by, question.descending), most=most, skipped=skipped)


async def _search(
    work: Work, source: str, root: str, listed: ListedKind[T], question: ListQuestion, filter: FilterNode
) -> tuple[int, list[dict[str, Any]]]:
    """How many fit, and those of the page that was asked for."""
    named = await listed.named(work, source, filter)
    if named is not None:
        documents = await listed.render(work, source, root, named)
        fitting = [one for one in documents if fits(listed.kind, filter, one)]
        return len(fitting), fitting[question.start - 1 :][: question.count]
    work.find(Limiter).spend(SEARCHES, source)
    found: list[dict[str, Any]] = []
    total = skipped = 0
    while rows := await _page(work, source, listed, question, most=PAGE, skipped=skipped):
        skipped += len(rows)
        for part in await _parts(work, rows):
            for document in await listed.render(work, source, root, part):
                if fits(listed.kind, filter, document):
                    total += 1
                    if question.start <= total < question.start + question.count and len(found) < question.count:
                        found.append(document)
            await asyncio.sleep(0)
    return total, found


async def _within_limits(work: Work, rows: list[T], question: ListQuestion) -> list[T]:
    if not question.shown.shows("members"):
        return rows
    parts = await _parts(work, rows)
    return list(parts[0]) if parts else []


async def _parts(work: Work, rows: Sequence[T]) -> list[Sequence[T]]:
    """The rows in parts that have few enough members to be looked at together."""
    groups = [one.group for one in rows if isinstance(one, ReceivedGroup)]
    if not groups:
        return [rows] if rows else []
    counts = await store.member_counts(work.db, groups)
    parts: list[list[T]] = [[]]
    size = 0
    for row in rows:
        own = counts.get(row.group, 0) if isinstance(row, ReceivedGroup) else 0
        if parts[-1] and size + own > MOST_MEMBERS:
            parts.append([])
            size = 0
        parts[-1].append(row)
        size += own
    return list(parts)


async def _named_users(work: Work, source: str, filter: FilterNode) -> list[ReceivedUser] | None:
    username, external_id, id = (sought(filter, name) for name in ("userName", "externalId", "id"))
    if username is not None:
        return await store.users_with(work.db, source, "userName", username_key(username.replace("\0", "")))
    if external_id is not None:
        return await store.users_with(work.db, source, "externalId", external_id.replace("\0", ""))
    if id is not None:
        known = read_uuid(id)
        found = await store.find_user(work.db, source, known) if known is not None else None
        return [found] if found is not None else []
    return None


async def _named_groups(work: Work, source: str, filter: FilterNode) -> list[ReceivedGroup] | None:
    external_id, id = (sought(filter, name) for name in ("externalId", "id"))
    if external_id is not None:
        return await store.groups_with(work.db, source, "externalId", external_id.replace("\0", ""))
    if id is not None:
        known = read_uuid(id)
        found = await store.find_group(work.db, source, known) if known is not None else None
        return [found] if found is not None else []
    return None


PEOPLE = ListedKind(USERS, store.user_page, store.count_users, render_users, _named_users)
GROUP_LIST = ListedKind(GROUPS, store.group_page, store.count_groups, render_groups, _named_groups)
