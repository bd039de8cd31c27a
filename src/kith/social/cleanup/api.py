"""Automatic deletion of one's own old posts: a route of ours, for Mastodon has it on a page only."""

from __future__ import annotations

from typing import Any

from kith.base.routing import FromRequest, delete, get, put
from kith.base.work import Work
from kith.social.accounts.viewers import Actor, Me
from kith.social.cleanup import service
from kith.social.cleanup.service import CleanupChange
from kith.social.cleanup.tables import CleanupPolicy
from kith.social.guards import user

PATH = "/api/v1/statuses_cleanup_policy"
READ, WRITE = user("read:statuses"), user("write:statuses")


def _shown(policy: CleanupPolicy) -> dict[str, Any]:
    return {name: getattr(policy, name) for name in CleanupChange.__struct_fields__}


@get(PATH, guards=[READ])
async def show_policy(work: Work, me: Me) -> dict[str, Any]:
    return _shown(await service.policy_of(work, me))


@put(PATH, guards=[WRITE])
async def change_policy(work: Work, account: Actor, wanted: FromRequest[CleanupChange]) -> dict[str, Any]:
    return _shown(await service.change(work, account.id, wanted))


@delete(PATH, guards=[WRITE])
async def remove_policy(work: Work, me: Me) -> dict[str, Any]:
    await service.remove(work, me)
    return {}


routes = [show_policy, change_policy, remove_policy]
