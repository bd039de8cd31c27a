"""Those who have to do with somebody who has moved are taken along: a stretch at a time, each a job of its own."""

from __future__ import annotations

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId
from kith.social.relationships.service import moving

__all__ = ["TAKE_ALONG", "TakeAlong"]


class TakeAlong(msgspec.Struct):
    source_id: AccountId
    target_id: AccountId
    step: moving.MovingStep = moving.STEPS[0]
    after: int = 0


async def take_along(work: Work, payload: TakeAlong) -> None:
    await work.db.begin()
    source = await accounts.find(work.db, payload.source_id)
    target = await accounts.find(work.db, payload.target_id)
    if source is None or target is None or target.is_gone:
        return
    after = await moving.take_along(work, payload.step, source, target, payload.after)
    step: moving.MovingStep | None = payload.step if after is not None else _next(payload.step)
    if step is not None:
        following = TakeAlong(source_id=source.id, target_id=target.id, step=step, after=after or 0)
        work.enqueue(TAKE_ALONG, following, key=f"{source.id}:{target.id}:{step}:{after or 0}")


def _next(step: moving.MovingStep) -> moving.MovingStep | None:
    place = moving.STEPS.index(step) + 1
    return moving.STEPS[place] if place < len(moving.STEPS) else None


TAKE_ALONG: JobKind[TakeAlong] = JobKind(name="moving.take_along", payload=TakeAlong, handler=take_along)
