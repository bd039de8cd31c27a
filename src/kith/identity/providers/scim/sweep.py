"""Looking at everybody, some at a time: who is to be told of, and is not, or the other way round."""

from __future__ import annotations

from datetime import datetime

from kith.base.work import Work
from kith.identity.providers.scim import group_store, store
from kith.identity.providers.scim.scope import is_group_in_scope, people_in_scope
from kith.identity.providers.scim.tables import RemoteResource
from kith.identity.providers.scim.target import ScimTarget
from kith.identity.providers.scim.waiting import BEGIN

FIRST_GROUP = "00000000-0000-0000-0000-000000000000"


async def sweep_some(work: Work, target: ScimTarget) -> bool:
    """One page; False if no look at everybody is wanted. How far it has come is kept with what it has found."""
    state = await store.state(work.db, target.provider)
    if state is None or state.sweep is None:
        return False
    kind, _, after = state.sweep.partition(":")
    match kind:
        case "user":
            marked, onward = await _people(work, target, int(after))
        case "group":
            marked, onward = await _groups(work, target, after)
        case _:
            marked, onward = await _gone_groups(work, target, after)
    async with work.aside() as aside:
        await store.wait(aside.db, marked, aside.new_id(), aside.now, anew=False)
        if onward is None:
            await store.end_sweep(aside.db, target.provider, BEGIN, aside.now)
        else:
            await store.move_sweep(aside.db, target.provider, onward)
    return True


Marked = list[tuple[int, str, str]]


async def _people(work: Work, target: ScimTarget, after: int) -> tuple[Marked, str | None]:
    provider = target.provider
    page = await store.people_page(work.db, after)
    if not page:
        gone = await store.gone_users(work.db, provider)
        return [(provider, "user", one) for one in gone], f"group:{FIRST_GROUP}"
    known = await store.some_remotes(work.db, provider, "user", [str(one) for one, _ in page])
    wanted = await people_in_scope(work, target, [one for one, _ in page])
    marked: Marked = []
    for user_id, changed_at in page:
        remote, is_wanted = known.get(str(user_id)), user_id in wanted
        if is_wanted != (remote is not None and remote.is_active) or _is_old(remote, changed_at, is_wanted=is_wanted):
            marked.append((provider, "user", str(user_id)))
    return marked, f"user:{page[-1][0]}"


def _is_old(remote: RemoteResource | None, changed_at: datetime, *, is_wanted: bool) -> bool:
    return is_wanted and remote is not None and (not remote.digest or remote.pushed_at < changed_at)


async def _groups(work: Work, target: ScimTarget, after: str) -> tuple[Marked, str | None]:
    provider = target.provider
    page = await store.group_page(work.db, after)
    if not page:
        return [], "gone:"
    known = await store.some_remotes(work.db, provider, "group", [one for one, _ in page])
    marked: Marked = []
    for group, changed_at in page:
        remote = known.get(group)
        is_wanted = await is_group_in_scope(work, target, group)
        if is_wanted != (remote is not None) or _is_old(remote, changed_at, is_wanted=is_wanted):
            marked.append((provider, "group", group))
    return marked, f"group:{page[-1][0]}"


async def _gone_groups(work: Work, target: ScimTarget, after: str) -> tuple[Marked, str | None]:
    page = await store.remote_groups(work.db, target.provider, after)
    marked: Marked = [
        (target.provider, "group", one) for one in page if await group_store.find_group(work.db, one) is None
    ]
    return marked, f"gone:{page[-1]}" if page else None
