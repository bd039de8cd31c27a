"""What changes here becomes work for services: jobs of the same transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from kith.base.jobs import MAKES_ROOM, JobKind, Periodic
from kith.base.work import Work
from kith.identity.groups.facts import GroupChanged
from kith.identity.mappings.facts import ScimMappingChanged
from kith.identity.providers.scim import store
from kith.identity.providers.scim.run import Run
from kith.identity.providers.scim.target import find_target
from kith.identity.providers.scim.waiting import PUSH_NAME, ScimPush, begin_sweep, mark, push_soon, sweep_all
from kith.identity.rest.facts import AccessChanged
from kith.identity.users.service import UserBarred, UserChanged, UserCreated, UserDeleted

BUSY = timedelta(seconds=1)
EVERY = timedelta(hours=4)
Person = UserCreated | UserChanged | UserBarred | UserDeleted


class ScimSweep(msgspec.Struct):
    """The job that has every service looked at again."""


async def _on_people(work: Work, facts: Sequence[Person]) -> None:
    await mark(work, "user", {fact.user_id for fact in facts})


async def _on_groups(work: Work, facts: Sequence[GroupChanged]) -> None:
    await mark(work, "user", {user_id for fact in facts for user_id in fact.user_ids})
    await mark(work, "group", {fact.group_uuid for fact in facts})


async def _on_access(work: Work, _facts: Sequence[AccessChanged]) -> None:
    await sweep_all(work)


async def _on_mapping(work: Work, _fact: ScimMappingChanged) -> None:
    """All are told again: those that name no mapping are told by the shipped ones, which can be changed too."""
    for provider in await store.all_providers(work.db):
        await begin_sweep(work, provider, again_whole=True)


async def _sweep(work: Work, _payload: ScimSweep) -> None:
    await sweep_all(work)


async def _push(work: Work, payload: ScimPush) -> None:
    target = await find_target(work, payload.provider)
    if target is None:
        return
    run = Run(work, target)
    state = await run.begin()
    if state is None:
        push_soon(work, payload.provider, work.now + BUSY)
        return
    try:
        onward = await run.go(state)
    finally:
        await run.end()
    if onward is not None:
        push_soon(work, payload.provider, onward if onward > datetime.now(UTC) else None)


USER_CREATED: JobKind[UserCreated] = JobKind(name="identity.scim_user_created", payload=UserCreated, many=_on_people)
USER_CHANGED: JobKind[UserChanged] = JobKind(name="identity.scim_user_changed", payload=UserChanged, many=_on_people)
USER_BARRED: JobKind[UserBarred] = JobKind(name="identity.scim_user_barred", payload=UserBarred, many=_on_people)
USER_DELETED: JobKind[UserDeleted] = JobKind(name="identity.scim_user_deleted", payload=UserDeleted, many=_on_people)
GROUP_CHANGED: JobKind[GroupChanged] = JobKind(
    name="identity.scim_group_changed", payload=GroupChanged, many=_on_groups
)
ACCESS_CHANGED: JobKind[AccessChanged] = JobKind(
    name="identity.scim_access_changed", payload=AccessChanged, many=_on_access
)
MAPPING_CHANGED: JobKind[ScimMappingChanged] = JobKind(
    name="identity.scim_mapping_changed", payload=ScimMappingChanged, handler=_on_mapping
)
PUSH: JobKind[ScimPush] = JobKind(
    name=PUSH_NAME,
    payload=ScimPush,
    handler=_push,
    outside=True,
    concurrency=4,
    **MAKES_ROOM,
    patience=timedelta(minutes=10),
)
SWEEP: JobKind[ScimSweep] = JobKind(name="identity.scim_sweep", payload=ScimSweep, handler=_sweep)
PERIODIC = Periodic(kind=SWEEP, every=EVERY, payload=ScimSweep())
SUBSCRIPTIONS = (
    (UserCreated, USER_CREATED),
    (UserChanged, USER_CHANGED),
    (UserBarred, USER_BARRED),
    (UserDeleted, USER_DELETED),
    (GroupChanged, GROUP_CHANGED),
    (AccessChanged, ACCESS_CHANGED),
    (ScimMappingChanged, MAPPING_CHANGED),
)
