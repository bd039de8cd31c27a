"""Who may enter which application, and what people have allowed applications: as lines of a file, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import msgspec

from kith.base.errors import Complaint, Invalid
from kith.base.work import Work, Works
from kith.identity.exports import store
from kith.identity.exports.store import ALL_APPLICATIONS, ALL_USERS, AllowedLine, ApplicationLine, BindingLine
from kith.identity.rest.exporting import PAGE, lines_of
from kith.identity.rest.fields import I32

FIRST = "00000000-0000-0000-0000-000000000000"  # before every key
COLUMNS = (
    "application", "application_name", "kind", "username", "user", "via", "negated", "mode", "scopes", "since",
    "expires",
)  # fmt: skip
Row = tuple[Any, ...]


class GrantFilter(msgspec.Struct, frozen=True):
    user: int = ALL_USERS
    application: str = ALL_APPLICATIONS


async def read_filter(work: Work, query: Mapping[str, list[str]]) -> GrantFilter:
    complaints: dict[str, list[str]] = {}
    user, application = ALL_USERS, ALL_APPLICATIONS
    if text := query.get("user", [""])[-1]:
        if text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= I32:
            user = int(text)
        else:
            complaints["user"] = [Complaint("A valid integer is required.", "invalid")]
    if slug := query.get("application", [""])[-1].replace("\0", ""):
        application = await store.find_application(work.db, slug) or ""
        if not application:
            complaints["application"] = [Complaint("There is no application with this slug.", "does_not_exist")]
    if complaints:
        raise Invalid(fields=complaints)
    return GrantFilter(user, application)


async def lines(works: Works, wanted: GrantFilter) -> AsyncIterator[bytes]:
    """Each page is a read of its own, so that nothing waits for a slow reader."""
    yield lines_of([COLUMNS])
    async for rows in _who_may_enter(works, wanted):
        yield lines_of(rows)
    for kind, page in (("allowed", store.page_of_consents), ("connected", store.page_of_grants)):
        async for rows in _what_is_allowed(works, wanted, kind, page):
            yield lines_of(rows)


async def _who_may_enter(works: Works, wanted: GrantFilter) -> AsyncIterator[list[Row]]:
    after = FIRST
    while True:
        async with works.begin() as work:
            found = await store.page_of_applications(work.db, after, PAGE, wanted.application)
        for application in found:
            async for rows in _of_application(works, wanted, application):
                yield rows
        if len(found) < PAGE:
            return
        after = found[-1].pbm_uuid


async def _of_application(works: Works, wanted: GrantFilter, application: ApplicationLine) -> AsyncIterator[list[Row]]:
    """People where a person or group is named; else what decides: everybody may enter, or a policy says who."""
    async with works.begin() as work:
        bound, now = await store.bindings_of(work.db, application.pbm_uuid), work.now
    if not bound:
        yield [_entry(application, None, None, "everybody")]
    for one in bound:
        if not one.enabled or (one.expires is not None and one.expires <= now):
            continue  # nobody may enter by it, but neither may everybody
        if one.user_id is not None:
            if wanted.user in (ALL_USERS, one.user_id):
                yield [_entry(application, one, (one.user_id, one.username or ""), "user")]
        elif one.group is not None:
            async for rows in _of_group(works, wanted, application, one, one.group):
                yield rows
        elif one.policy_name is not None:
            yield [_entry(application, one, None, f"policy {one.policy_name}")]


async def _of_group(
    works: Works, wanted: GrantFilter, application: ApplicationLine, bound: BindingLine, group: str
) -> AsyncIterator[list[Row]]:
    after = 0
    while True:
        async with works.begin() as work:
            found = await store.page_of_members(work.db, group, after, PAGE, wanted.user)
        yield [_entry(application, bound, person, f"group {bound.group_name}") for person in found]
        if len(found) < PAGE:
            return
        after = found[-1][0]


def _entry(application: ApplicationLine, bound: BindingLine | None, person: tuple[int, str] | None, via: str) -> Row:
    id, username = person or (None, "")
    return (
        application.slug,
        application.name,
        "may_enter",
        username,
        id,
        via,
        bound.negate if bound is not None else False,
        application.policy_engine_mode,
        "",
        bound.created_at if bound is not None else None,
        bound.expires if bound is not None else None,
    )


_Page = Callable[[Any, str, int, int, str], Awaitable[list[AllowedLine]]]


async def _what_is_allowed(works: Works, wanted: GrantFilter, kind: str, page: _Page) -> AsyncIterator[list[Row]]:
    after = FIRST
    while True:
        async with works.begin() as work:
            found = await page(work.db, after, PAGE, wanted.user, wanted.application)
        yield [_allowed(kind, one) for one in found]
        if len(found) < PAGE:
            return
        after = found[-1].key


def _allowed(kind: str, one: AllowedLine) -> Row:
    scopes = " ".join(one.scopes) if isinstance(one.scopes, list) else one.scopes
    via = "consent" if kind == "allowed" else "tokens"
    return (
        one.slug, one.name, kind, one.username, one.user_id, via, False, "", scopes, one.created_at, one.expires_at,
    )  # fmt: skip
