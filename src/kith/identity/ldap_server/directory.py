"""Searches in the tree: read in batches, each in a work of its own, so that memory stays flat."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence

import msgspec

from kith.base.work import Work, Works
from kith.identity.audit.hidden_attributes import HiddenAttributes
from kith.identity.distinguished_names import DistinguishedName, read_name, squeezed
from kith.identity.expressions import subjects
from kith.identity.ldap_server import store
from kith.identity.ldap_server.doubled_names import DoubledNames
from kith.identity.ldap_server.entries import (
    DN_VALUES,
    GROUP_CLASSES,
    MEMBERS,
    OF_PEOPLE,
    PERSON_CLASSES,
    EntryLookup,
    LdapEntry,
    canonical_dn,
    group_entry,
    groups_dn,
    person_entry,
    unit_entry,
    users_dn,
)
from kith.identity.ldap_server.filters import And, Equal, Not, Or, SearchFilter, candidates, holds
from kith.identity.ldap_server.messages import Scope, SearchRequest
from kith.identity.ldap_server.sign_in import BoundPerson
from kith.identity.ldap_server.store import TreeGroup, TreeMapping, TreePerson, TreeProvider
from kith.identity.mappings.service import evaluate
from kith.identity.users.names import email_key, username_key

__all__ = ["NoSuchObject", "SearchCursor", "search"]

AT_ONCE = 250
MOST_MEMBERS = 20_000  # read at once, of all groups together
IN_A_ROW = 25  # entries, before others have their turn
Rest = Callable[[], Awaitable[None]]
_NAMES = frozenset({"cn", "uid", "samaccountname"})
_PERSON_KEYS = _NAMES | {"mail", "uidnumber"}
_GROUP_KEYS = MEMBERS | {"memberuid"}


class NoSuchObject(Exception):  # noqa: N818 - an answer
    """There is nothing of that name in the tree."""


class SearchCursor(msgspec.Struct, frozen=True, array_like=True):
    """Up to where a search has come: so many units, people up to a number, groups up to a name."""

    units: int = 0
    person: int = 0
    group: str = ""
    is_past_people: bool = False


class _Asked(msgspec.Struct, frozen=True):
    """A search with what follows from it: which attributes must be worked out, and what part of the tree is meant."""

    provider: TreeProvider
    bound: BoundPerson
    request: SearchRequest
    filter: SearchFilter
    mappings: tuple[TreeMapping, ...]
    wants_units: tuple[LdapEntry, ...]
    person: str | None  # a single one is meant
    group: str | None
    has_people: bool
    has_groups: bool
    doubled: frozenset[str]  # names of groups that are not in the tree
    withheld: frozenset[str]  # attributes that only a mapping tells


async def _make_way() -> None:
    await asyncio.sleep(0)


async def search(
    works: Works,
    provider: TreeProvider,
    bound: BoundPerson,
    request: SearchRequest,
    start: SearchCursor,
    *,
    rest: Rest = _make_way,
) -> AsyncGenerator[tuple[LdapEntry, SearchCursor], None]:
    """The entries that are meant and may be seen, each with where the search goes on after it.

    `rest` is waited for where others have their turn.
    """
    asked = await _plan(works, provider, bound, request)
    found = False
    for count, unit in enumerate(asked.wants_units, start=1):
        if count > start.units and _is_meant(asked, unit):
            found = True
            yield unit, SearchCursor(units=count)
    past_units = len(asked.wants_units)
    if asked.has_people and not start.is_past_people:
        async for person, number in _people(works, asked, start.person, rest):
            found = True
            yield person, SearchCursor(units=past_units, person=number)
    if asked.has_groups:
        async for group, name in _groups(works, asked, start.group, rest):
            found = True
            yield group, SearchCursor(units=past_units, is_past_people=True, group=name)
    if not found and (asked.person or asked.group) and not await _is_there(works, asked):
        raise NoSuchObject


async def _is_there(works: Works, asked: _Asked) -> bool:
    """Whether the single entry that was named can be seen, whatever the filter says of it."""
    work = works.open()
    try:
        if asked.person is not None:
            return bool((await _next_people(work, asked, -1))[0])
        return any(one.name not in asked.doubled for one in (await _next_groups(work, asked, ""))[0])
    finally:
        await work.rollback()


async def _plan(works: Works, provider: TreeProvider, bound: BoundPerson, request: SearchRequest) -> _Asked:
    base, name = read_name(provider.base_dn), read_name(request.base)
    if not base or name is None or name[-len(base) :] != base:
        raise NoSuchObject
    above, scope = name[: -len(base)], request.scope
    asked = _canonical(request.filter)
    units = _units(provider)
    work = works.open()
    try:
        mappings = tuple(
            one for one in await store.mappings_of(work.db, provider.id) if _is_wanted(one.object_field, request, asked)
        )
        doubled = await work.find(DoubledNames).read(work.db)
        withheld = frozenset(one.lower() for one in await work.find(HiddenAttributes).names(work))  # type: ignore[type-abstract]
    finally:
        await work.rollback()
    plan = _Asked(
        provider,
        bound,
        request,
        asked,
        mappings,
        (),
        None,
        None,
        has_people=False,
        has_groups=False,
        doubled=doubled,
        withheld=withheld,
    )
    match above:
        case ():
            chosen = {Scope.BASE: units[:1], Scope.ONE_LEVEL: units[1:], Scope.SUBTREE: units}[scope]
            deep = scope is Scope.SUBTREE
            plan = msgspec.structs.replace(plan, wants_units=chosen, has_people=deep, has_groups=deep)
        case (("ou", "users"),):
            own = () if scope is Scope.ONE_LEVEL else units[1:2]
            plan = msgspec.structs.replace(plan, wants_units=own, has_people=scope is not Scope.BASE)
        case (("ou", "groups"),):
            own = () if scope is Scope.ONE_LEVEL else units[2:]
            plan = msgspec.structs.replace(plan, wants_units=own, has_groups=scope is not Scope.BASE)
        case ((kind, value), ("ou", "users")) if kind in ("cn", "uid"):
            plan = msgspec.structs.replace(plan, person=value, has_people=scope is not Scope.ONE_LEVEL)
        case (("cn", value), ("ou", "groups")):
            plan = msgspec.structs.replace(plan, group=value, has_groups=scope is not Scope.ONE_LEVEL)
        case _:
            raise NoSuchObject
    return _without_the_impossible(plan)


def _units(provider: TreeProvider) -> tuple[LdapEntry, ...]:
    kind, _, value = provider.base_dn.partition(",")[0].partition("=")
    return (
        unit_entry(provider.base_dn, kind.strip().lower(), value.strip()),
        unit_entry(users_dn(provider), "ou", "users"),
        unit_entry(groups_dn(provider), "ou", "groups"),
    )


def _without_the_impossible(plan: _Asked) -> _Asked:
    """Many filters name a class of objects, or what only people have: whatever cannot be meant is not looked at."""

    def may_be(classes: Sequence[str], without: frozenset[str]) -> bool:
        known = {"objectclass": frozenset(map(squeezed, classes))} | dict.fromkeys(without, frozenset())
        return holds(plan.filter, known.get) is not False

    return msgspec.structs.replace(
        plan,
        has_people=plan.has_people and may_be(PERSON_CLASSES, frozenset()),
        has_groups=plan.has_groups and may_be(GROUP_CLASSES, OF_PEOPLE),
    )


def _is_wanted(attribute: str, request: SearchRequest, asked: SearchFilter) -> bool:
    wanted = {one.lower() for one in request.attributes}
    return not wanted or "*" in wanted or attribute.lower() in wanted or attribute.lower() in _attributes_of(asked)


def _attributes_of(asked: SearchFilter) -> set[str]:
    match asked:
        case And(of) | Or(of):
            return set().union(*(_attributes_of(one) for one in of))
        case Not(of):
            return _attributes_of(of)
    return {getattr(asked, "attribute", "")}


def _canonical(asked: SearchFilter) -> SearchFilter:
    """Names within a filter in the form in which they are compared."""
    match asked:
        case And(of):
            return And(tuple(_canonical(one) for one in of))
        case Or(of):
            return Or(tuple(_canonical(one) for one in of))
        case Not(of):
            return Not(_canonical(of))
        case Equal(attribute, value) if attribute in DN_VALUES:
            return Equal(attribute, canonical_dn(value))
    return asked


def _is_meant(asked: _Asked, entry: LdapEntry) -> bool:
    return holds(asked.filter, EntryLookup(entry)) is True


# People


async def _people(works: Works, asked: _Asked, after: int, rest: Rest) -> AsyncIterator[tuple[LdapEntry, int]]:
    while True:
        work = works.open()
        try:
            batch, is_last = await _next_people(work, asked, after)
            entries = await _person_entries(work, asked, batch)
        finally:
            await work.rollback()
        for count, (person, entry) in enumerate(zip(batch, entries, strict=True), start=1):
            after = person.id
            if _is_meant(asked, entry):
                yield entry, person.id
            if count % IN_A_ROW == 0:
                await rest()
        if is_last:
            return


async def _next_people(work: Work, asked: _Asked, after: int) -> tuple[list[TreePerson], bool]:
    """The next ones who may be seen and may be meant, and whether there are no more."""
    db, bound = work.db, asked.bound
    if not bound.may_see_all:
        found = await store.people_like(db, numbers=[bound.user_id])
        names = {username_key(asked.person)} if asked.person is not None else None
        return [one for one in found if one.id > after and (names is None or username_key(one.username) in names)], True
    if asked.person is not None:
        return [one for one in await store.people_like(db, names=[username_key(asked.person)]) if one.id > after], True
    keys = candidates(asked.filter, _PERSON_KEYS)
    if keys is None:
        batch = await store.people_after(db, after, AT_ONCE)
        return batch, len(batch) < AT_ONCE
    start = asked.provider.uid_start_number
    found = await store.people_like(
        db,
        names=[username_key(value) for attribute, value in keys if attribute in _NAMES],
        emails=[email_key(value) for attribute, value in keys if attribute == "mail"],
        numbers=[int(value) - start for attribute, value in keys if attribute == "uidnumber" and _is_number(value)],
    )
    return [one for one in found if one.id > after], True


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) <= 9


async def _person_entries(work: Work, asked: _Asked, batch: Sequence[TreePerson]) -> list[LdapEntry]:
    groups = await store.group_names(work.db, [one.id for one in batch])
    shown = {id: [name for name in names if name not in asked.doubled] for id, names in groups.items()}
    entries = [person_entry(asked.provider, one, shown[one.id], asked.withheld) for one in batch]
    for person, entry in zip(batch, entries, strict=True):
        await _add_mapped(work, asked, person, entry)
    return entries


async def _add_mapped(work: Work, asked: _Asked, person: TreePerson, entry: LdapEntry) -> None:
    """Attributes that the provider's mappings give; one that fails is left out."""
    if not asked.mappings:
        return
    subject = await subjects.find(work, person.id)
    for mapping in asked.mappings:
        result = await evaluate(work, mapping.expression, subject, {"provider": {"name": asked.provider.name}})
        if result.error or result.value is None:
            continue
        values = result.value if isinstance(result.value, list | tuple) else [result.value]
        entry.attributes[mapping.object_field] = [str(one) for one in values][:1000]


# Groups


async def _groups(works: Works, asked: _Asked, after: str, rest: Rest) -> AsyncIterator[tuple[LdapEntry, str]]:
    while True:
        work = works.open()
        try:
            batch, is_last = await _next_groups(work, asked, after)
            counts = await store.member_counts(work.db, [one.group_uuid for one in batch])
        finally:
            await work.rollback()
        for part in _parts(batch, counts):
            for group, entry in await _group_entries(works, asked, part):
                if group.name not in asked.doubled and _is_meant(asked, entry):
                    yield entry, group.name
            await rest()
        if is_last:
            return
        after = batch[-1].name if batch else after


def _parts(batch: Sequence[TreeGroup], counts: dict[str, int]) -> Iterator[list[TreeGroup]]:
    """Groups whose members are read together; one that has very many is read by itself."""
    part: list[TreeGroup] = []
    total = 0
    for group in batch:
        total += counts[group.group_uuid]
        if part and (total > MOST_MEMBERS or len(part) == IN_A_ROW):
            yield part
            part, total = [], counts[group.group_uuid]
        part.append(group)
    if part:
        yield part


async def _group_entries(works: Works, asked: _Asked, part: Sequence[TreeGroup]) -> list[tuple[TreeGroup, LdapEntry]]:
    if not any(_is_wanted(name, asked.request, asked.filter) for name in _GROUP_KEYS):
        return [(one, group_entry(asked.provider, one, (), asked.withheld)) for one in part]
    work = works.open()
    try:
        members = await _members(work, asked, part)
    finally:
        await work.rollback()
    return [(one, group_entry(asked.provider, one, members[one.group_uuid], asked.withheld)) for one in part]


async def _next_groups(work: Work, asked: _Asked, after: str) -> tuple[list[TreeGroup], bool]:
    """The next ones that may be seen and may be meant, and whether there are no more."""
    db, bound = work.db, asked.bound
    if not bound.may_see_all:
        mine = await store.groups_of_person(db, bound.user_id)
        return _after(after, [one for one in mine if asked.group in (None, squeezed(one.name))]), True
    if asked.group is not None:
        return _after(after, await store.groups_called(db, asked.group)), True
    keys = candidates(asked.filter, _GROUP_KEYS)
    if keys is None:
        batch = await store.groups_after(db, after, AT_ONCE)
        return batch, len(batch) < AT_ONCE
    names = {_member_name(asked.provider, attribute, value) for attribute, value in keys} - {""}
    people = await store.people_like(db, names=[username_key(one) for one in names])
    found = {one.group_uuid: one for person in people for one in await store.groups_of_person(db, person.id)}
    return _after(after, found.values()), True


def _after(name: str, found: Iterable[TreeGroup]) -> list[TreeGroup]:
    """In an order of our own: databases have different ones."""
    return sorted((one for one in found if one.name > name), key=lambda one: one.name)


def _member_name(provider: TreeProvider, attribute: str, value: str) -> str:
    """The user name in a member's name; empty where it is none of this tree's."""
    if attribute == "memberuid":
        return value
    name: DistinguishedName = read_name(value) or ()
    is_person = len(name) > 1 and name[1:] == read_name(users_dn(provider)) and name[0][0] == "cn"
    return name[0][1] if is_person else ""


async def _members(work: Work, asked: _Asked, batch: Sequence[TreeGroup]) -> dict[str, list[str]]:
    """Who is in a group is for whoever may see everybody; others find themselves there."""
    if not asked.bound.may_see_all:
        return {one.group_uuid: [asked.bound.username] for one in batch}
    return await store.member_names(work.db, [one.group_uuid for one in batch])
