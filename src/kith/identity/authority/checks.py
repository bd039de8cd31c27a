"""The checks of which the table of powers is made: each refuses what would make somebody mightier than they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import Column, bindparam, or_, select

from kith.base.db import METADATA, UID, Query, any_of, query
from kith.base.work import Work
from kith.identity.authority.ways_in import DESIGNATIONS, WaysIn, asks_password, find_ways_in
from kith.identity.authority.write import Check, RecordWrite, refuse
from kith.identity.crypto.tables import keypairs
from kith.identity.expressions.drafts import LOOKS_UP, LOOKS_UP_REFUSED
from kith.identity.group_grants import MORE, grants_of
from kith.identity.groups import store as groups
from kith.identity.policies.bindings import bindings as policy_bindings
from kith.identity.policies.kinds import group_membership, passwordexpiry
from kith.identity.roles.store import permissions_in
from kith.identity.sources.kinds.ldap import ldap_sources
from kith.identity.stages.gateway_attributes import CHANGES_GATEWAYS, GatewayAttributes
from kith.identity.stages.invitation_checks import ADDS_PEOPLE, names_beyond
from kith.identity.stages.kinds import user_write
from kith.identity.users.identifying_attributes import identifying_names
from kith.identity.users.privileges import refuse_if_above

__all__ = [
    "bind_no_removal", "compare_group", "compare_membership", "compare_role", "is_binding", "is_called", "is_flow",
    "is_form", "is_key_used", "is_mapping", "is_place", "is_policy", "is_prompt", "is_stage", "keep_deciding_groups",
    "keep_headers", "keep_invitation", "keep_key", "keep_off_ways_in", "keep_offers", "keep_passwords", "keep_sender",
    "look_up", "only_superusers", "only_unlink",
]  # fmt: skip

assert user_write.RESOURCE.table is not None  # noqa: S101 - a kind has one
_NAMING_GROUPS = tuple(
    query(select(column).where(column == bindparam("group", type_=UID())).limit(1), str)
    for column in (ldap_sources.c.sync_parent_group, user_write.RESOURCE.table.c.create_users_group)
)
assert passwordexpiry.RESOURCE.table is not None  # noqa: S101 - a kind has one
_expiry = passwordexpiry.RESOURCE.table
assert group_membership.RESOURCE.table is not None  # noqa: S101 - a kind has one
_memberships = group_membership.RESOURCE.table
_removes = query(
    select(_expiry.c.policy_uuid).where(
        _expiry.c.policy_uuid == bindparam("policy", type_=UID()), _expiry.c.deny_only.is_(False)
    ),
    str,
)
_lets_in = query(
    select(policy_bindings.c.target)
    .outerjoin(_memberships, _memberships.c.policy_uuid == policy_bindings.c.policy)
    .where(or_(any_of(policy_bindings.c.group, "groups"), any_of(_memberships.c.group, "groups")))
    .limit(1),
    str,
)
PASSWORDS = "Only a superuser may have old passwords removed; set deny_only to refuse them."
SIGN_IN = "Only a superuser may change how people sign in, or what guards their accounts."
KEY = "Only a superuser may change or delete a key pair that something uses."
CONNECTIONS = "Only a superuser may connect accounts."
IDENTIFIES = "Only whoever may add people may say by an invitation who somebody is to other services."
SENDER = "Only a superuser may have messages sent in another name."
HEADERS_REFUSED = "Only somebody who may change gateways may change what gateways tell applications."
CHANGES_GROUPS, CHANGES_BINDINGS = "core.change_group", "policies.change_policybinding"
OFFERS = "Only somebody who may change groups may say who lets people into one."
OFFERS_BOUND = "Only somebody who may change bindings may say who lets people into a group that is bound somewhere."
BELOW = "Only somebody who may change groups may put a group below another one: its members are members of that, too."
DECIDES = "Only a superuser may change a group by which it is decided how people sign in."


def only_superusers(words: str, *, but: tuple[str, ...] = ()) -> Check:
    """Nobody else makes, changes or deletes a record; `but` are fields that the permission is enough for."""

    async def check(write: RecordWrite) -> None:
        if write.changes_besides(*but):
            refuse(words)

    return check


# Ways in


Lies = Callable[[WaysIn, Mapping[str, Any]], bool]


def keep_off_ways_in(lies: Lies, *, also_new: bool) -> Check:
    """Refuse a record that is on a way in, before or after. `also_new`: a new one could be on it at once."""

    async def check(write: RecordWrite) -> None:
        if write.is_new and not also_new:
            return
        ways = await find_ways_in(write.work.db)
        if any(lies(ways, state) for state in write.states):
            refuse(SIGN_IN)

    return check


def is_flow(ways: WaysIn, record: Mapping[str, Any]) -> bool:
    return record.get("designation") in DESIGNATIONS or record.get("flow_uuid") in ways.flows


def is_place(ways: WaysIn, record: Mapping[str, Any]) -> bool:
    return record.get("flow") in ways.flows or ways.is_powerful(record.get("stage"))


def is_stage(ways: WaysIn, record: Mapping[str, Any]) -> bool:
    return record.get("stage_uuid") in ways.stages


def is_prompt(ways: WaysIn, record: Mapping[str, Any]) -> bool:
    return record.get("prompt_uuid") in ways.prompts or asks_password(record)


def is_form(ways: WaysIn, record: Mapping[str, Any]) -> bool:
    return is_stage(ways, record) or not ways.words.isdisjoint(record.get("fields") or ())


def is_policy(ways: WaysIn, record: Mapping[str, Any]) -> bool:
    return ways.holds_policy(record.get("policy_uuid"))


def is_called(ways: WaysIn, record: Mapping[str, Any]) -> bool:
    """Whoever makes a policy that is asked by its name and missing, decides in its place."""
    return ways.calls_policy(record.get("name"))


def is_mapping(ways: WaysIn, record: Mapping[str, Any]) -> bool:
    """A mapping of a source says whom it takes people for."""
    return record.get("pm_uuid") in ways.mappings


def is_binding(ways: WaysIn, record: Mapping[str, Any]) -> bool:
    return record.get("target") in ways.targets


async def keep_passwords(write: RecordWrite) -> None:
    """A policy that removes old passwords can remove all of them, wherever people are asked about."""
    if any(not state.get("deny_only") for state in write.states):
        refuse(PASSWORDS)


async def bind_no_removal(write: RecordWrite) -> None:
    for state in write.states:
        policy = state.get("policy")
        if policy is not None and await write.work.db.one(_removes, policy=policy) is not None:
            refuse(PASSWORDS)


async def look_up(write: RecordWrite) -> None:
    """An expression can look up any person, and tell name servers of them: its author needs the right to see people."""
    draft = write.draft
    if draft is None or write.caller.may("core.view_user"):
        return
    for name, value in draft.values.items():
        if isinstance(value, str) and draft.sets(name) and any(word in value for word in LOOKS_UP):
            draft.complain(name, LOOKS_UP_REFUSED)
    draft.raise_complaints()


async def keep_headers(write: RecordWrite) -> None:
    """Applications behind a gateway believe its headers, so whoever adds some may set up gateways.

    The same holds for the attributes that a gateway signs in with, as the name and password of a person.
    """
    if write.after is None or write.caller.may(CHANGES_GATEWAYS):
        return
    before, after = ((state or {}).get("attributes", {}) for state in (write.before, write.after))
    believed = await write.work.find(GatewayAttributes).names(write.work)  # type: ignore[type-abstract]
    if any(before.get(name) != after.get(name) for name in believed):
        refuse(HEADERS_REFUSED)


# Keys


@lru_cache(1)
def _users_of_keys() -> tuple[Query[Any], ...]:
    """Statements for whatever refers to a key pair."""
    key = keypairs.c.kp_uuid
    columns: list[Column[Any]] = [
        reference.parent
        for table in METADATA.tables.values()
        for reference in table.foreign_keys
        if reference.column is key
    ]
    return tuple(query(select(one).where(one == bindparam("key", type_=UID())).limit(1), str) for one in columns)


async def is_key_used(work: Work, kp_uuid: Any) -> bool:
    for statement in _users_of_keys():
        if await work.db.one(statement, key=kp_uuid) is not None:
            return True
    return False


async def keep_key(write: RecordWrite) -> None:
    """Whoever replaces a key that somebody trusts, speaks in the name of whom it stands for."""
    if (
        write.before is not None
        and write.changes_besides("name")
        and await is_key_used(write.work, write.before["kp_uuid"])
    ):
        refuse(KEY)


# People, groups and roles


async def only_unlink(write: RecordWrite) -> None:
    """Whoever links an account elsewhere with somebody here, can come in as them; what somebody mightier has stays."""
    if write.after is not None:
        refuse(CONNECTIONS)
    for state in write.states:
        await refuse_if_above(write.work, write.caller, state["user"], "unlink an account of")


async def keep_invitation(write: RecordWrite) -> None:
    """What an invitation says of people is the word of whoever made it."""
    if write.before is not None:
        await refuse_if_above(write.work, write.caller, write.before["created_by"], "change an invitation of")
    draft = write.draft
    if draft is None or not draft.sets("fixed_data"):
        return
    names = draft.value("fixed_data") or {}
    held = {right for right in (ADDS_PEOPLE, CHANGES_GATEWAYS) if write.caller.may(right)}
    if await names_beyond(write.work, held, names):
        words = IDENTIFIES if identifying_names(names) and ADDS_PEOPLE not in held else HEADERS_REFUSED
        draft.complain("fixed_data", words, "permission_denied")
        draft.raise_complaints()


async def keep_sender(write: RecordWrite) -> None:
    """Whoever changes how messages are sent in somebody's name, speaks for them."""
    before, after = ((state or {}).get("direct_sender") for state in (write.before, write.after))
    if before not in (None, write.caller.id):
        refuse(SENDER)
    if write.draft is not None and after not in (None, write.caller.id):
        write.draft.complain("direct_sender", SENDER, "permission_denied")
        write.draft.raise_complaints()


def keep_deciding_groups(*names: str) -> Check:
    """Nobody else says who joins or leaves a group by which it is decided how people sign in."""

    async def check(write: RecordWrite) -> None:
        if not any(write.changes(name) for name in names):
            return
        before, after = (_named(state, names) for state in (write.before, write.after))
        reached = (await grants_of(write.work.db, before ^ after)).groups
        if not (await find_ways_in(write.work.db)).groups.isdisjoint(reached):
            refuse(DECIDES)

    return check


async def keep_offers(write: RecordWrite) -> None:
    """Whoever says who decides about a group lets people into it, and wherever its members are let in."""
    group = (write.after or {}).get("group")
    if group is not None and not write.caller.may(CHANGES_GROUPS):
        refuse(OFFERS)
    named = _named(write.before, ("group",)) | _named(write.after, ("group",))
    if not (await find_ways_in(write.work.db)).groups.isdisjoint((await grants_of(write.work.db, named)).groups):
        refuse(DECIDES)
    if group is None:
        return
    reached = (await grants_of(write.work.db, [group])).groups
    if not write.caller.may(CHANGES_BINDINGS) and await write.work.db.one(_lets_in, groups=list(reached)) is not None:
        refuse(OFFERS_BOUND)


def _named(state: Mapping[str, Any] | None, names: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    for name in names:
        value = (state or {}).get(name)
        found |= set(value) if isinstance(value, list) else {value} if value is not None else set()
    return found


async def compare_role(write: RecordWrite) -> None:
    """Nobody gives or takes by a role what they may not do themselves."""
    held = set((write.before or {}).get("permissions", ()))
    if not held <= write.permissions:
        refuse("You may not change a role that grants more than you have.")
    draft = write.draft
    if draft is not None and not set(draft.value("permissions") or ()) <= write.permissions:
        draft.complain("permissions", "A role cannot grant what you may not do yourself.", "permission_denied")
        draft.raise_complaints()


async def compare_membership(work: Work, group_uuid: str, held: frozenset[str]) -> None:
    """Nobody makes anybody a member of what grants more than they have themselves, nor ends it."""
    if group_uuid in await groups.superuser_groups(work.db):
        refuse("Only a superuser may change who is one.")
    granted = await grants_of(work.db, [group_uuid])
    if granted.exceeds(held):
        refuse("This group grants more than you have, so you cannot change who is in it.")
    if not (await find_ways_in(work.db)).groups.isdisjoint(granted.groups):
        refuse(DECIDES)


async def compare_group(write: RecordWrite) -> None:
    """Nobody gives or takes by a group what they may not do themselves, nor changes how its members sign in."""
    db, before, after = write.work.db, write.before, write.after
    mighty = await groups.superuser_groups(db)
    if before is not None:
        if before["group_uuid"] in mighty:
            refuse("Only a superuser may change who is one.")
        if (await grants_of(db, [before["group_uuid"]])).exceeds(write.permissions):
            refuse("You may not change a group that grants more than you have.")
    if after is not None:
        await _compare_grants(write, after, mighty)
    elif await _is_named(write, before):
        refuse("Only a superuser may delete a group that a source or a step of a flow names.")
    ways = await find_ways_in(db)
    names = [str(state["name"]) for state in write.states if write.changes("name")]
    ids = {state.get("group_uuid") for state in write.states} | {(after or {}).get("parent")}
    reached = (await grants_of(db, [str(one) for one in ids if one is not None])).groups
    if not ways.groups.isdisjoint(reached) or any(ways.names_group(name) for name in names):
        refuse(DECIDES)


async def _is_named(write: RecordWrite, group: Mapping[str, Any] | None) -> bool:
    """Whether people who come by a source or a flow are put into or below this group."""
    for statement in _NAMING_GROUPS:
        if group is not None and await write.work.db.one(statement, group=group["group_uuid"]) is not None:
            return True
    return False


async def _compare_grants(write: RecordWrite, after: Mapping[str, Any], mighty: set[str]) -> None:
    draft, db, allowed = write.draft, write.work.db, write.permissions
    if draft is None:
        return
    parent = after.get("parent")
    if after.get("is_superuser") or parent in mighty:
        draft.complain("is_superuser", "Only a superuser may change who is one.", "permission_denied")
    if not await permissions_in(db, after.get("roles") or []) <= allowed:
        draft.complain("roles", "A role that grants more than you have cannot be assigned by you.", "permission_denied")
    if parent is not None and write.changes("parent") and not write.caller.may(CHANGES_GROUPS):
        draft.complain("parent", BELOW, "permission_denied")
    if parent is not None and (await grants_of(db, [parent])).exceeds(allowed):
        draft.complain("parent", MORE, "permission_denied")
    draft.raise_complaints()
