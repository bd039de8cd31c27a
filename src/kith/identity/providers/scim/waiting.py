"""What has changed and may have to be told: marked in the transaction of the change, or of the job that follows it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from kith.base.work import Work
from kith.identity.providers.scim import store

PUSH_NAME = "identity.scim_push"
BEGIN = "user:0"


class ScimPush(msgspec.Struct):
    """The job that tells one service what waits for it."""

    provider: int


def push_soon(work: Work, provider: int, at: datetime | None = None) -> None:
    """One job waits for each provider; it does all that has come together by then.

    One that waits for a later moment must not stand in the way of one that is to come at once.
    """
    from kith.identity.providers.scim.tasks import PUSH  # noqa: PLC0415 - it knows this page

    later = f":{int(at.timestamp())}" if at is not None else ""
    work.enqueue(PUSH, ScimPush(provider), at=at, key=f"scim:{provider}{later}")


async def mark(work: Work, kind: str, local_ids: Iterable[int | str]) -> None:
    """For every provider."""
    found = await store.all_providers(work.db)
    rows = [(provider, kind, str(one)) for provider in found for one in local_ids]
    if not rows:
        return
    await store.wait(work.db, rows, work.new_id(), work.now)
    for provider in found:
        push_soon(work, provider)


async def begin_sweep(work: Work, provider: int, *, again_whole: bool = False) -> None:
    """Have everybody looked at; `again_whole`: and told again, even what has not changed."""
    await store.ensure_target(work.db, provider)
    if again_whole:
        await store.forget_digests(work.db, provider)
        await store.learn(work.db, provider, {}, None)
        await store.go_on(work.db, provider)
    await store.sweep(work.db, provider, BEGIN, work.now)
    push_soon(work, provider)


async def sweep_all(work: Work) -> None:
    for provider in await store.all_providers(work.db):
        await begin_sweep(work, provider)
