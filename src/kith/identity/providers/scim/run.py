"""One run for a service: it looks at everybody if that is wanted, and tells what waits, for a limited time."""

from __future__ import annotations

import time
import uuid
from datetime import datetime, timedelta

import structlog

from kith.base.clocks import is_ahead
from kith.base.db import Dangling
from kith.base.http import Outgoing
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.providers.scim import store
from kith.identity.providers.scim.client import ServiceClient, ServiceFailed, ServiceRefused
from kith.identity.providers.scim.documents import ScimMappingFailed
from kith.identity.providers.scim.push import Pusher
from kith.identity.providers.scim.sweep import sweep_some
from kith.identity.providers.scim.tables import TargetState, WaitingResource
from kith.identity.providers.scim.target import ScimTarget, find_target

MOST_SECONDS = 30.0
LEASE = timedelta(seconds=40)
RENEW_SECONDS = 10.0
CONFIG_LIFE = timedelta(hours=1)
MOST_ATTEMPTS = 10
FIRST_PAUSE = 5.0
LONGEST_PAUSE = 3600.0
HOUR = timedelta(seconds=LONGEST_PAUSE)
AT_ONCE = 50
_log = structlog.get_logger()


class Run:
    """Held by one process at a time, so that a service hears of changes in their order."""

    def __init__(self, work: Work, target: ScimTarget) -> None:
        self._work = work
        self._target = target
        self._me = str(uuid.uuid4())
        self._renewed = 0.0

    async def begin(self) -> TargetState | None:
        """None if another run is under way, or the provider has just been deleted."""
        try:
            async with self._work.aside() as aside:
                await store.ensure_target(aside.db, self._target.provider)
        except Dangling:
            return None
        if not await self._hold():
            return None
        return await store.state(self._work.db, self._target.provider)

    async def _hold(self) -> bool:
        async with self._work.aside() as aside:
            self._renewed = time.monotonic()
            return await store.take(aside.db, self._target.provider, self._me, aside.now, aside.now + LEASE)

    async def end(self) -> None:
        async with self._work.aside() as aside:
            await store.release(aside.db, self._target.provider, self._me)

    async def go(self, state: TargetState) -> datetime | None:
        """When to go on; None if nothing waits."""
        provider, until = self._target.provider, time.monotonic() + MOST_SECONDS
        now = self._work.now
        if state.paused_until is not None and now < state.paused_until and not is_ahead(state.paused_until, now + HOUR):
            return state.paused_until
        try:
            await self._tell(state, until)
        except ServiceFailed as failed:
            return await self._pause(state, failed)
        async with self._work.aside() as aside:
            if state.failures:
                await store.go_on(aside.db, provider)
            waits = await store.soonest(aside.db, provider)
            after = await store.state(aside.db, provider)
            is_sweeping = after is not None and after.sweep is not None
            if waits is None and not is_sweeping:
                await store.finish(aside.db, provider, aside.now)
            return aside.now if is_sweeping else waits

    async def _tell(self, state: TargetState, until: float) -> None:
        can_patch: bool | None = None
        while time.monotonic() < until:
            if not await self._look_again():
                return
            async with self._work.aside() as aside:
                found = await store.next_waiting(aside.db, self._target.provider, aside.now, AT_ONCE)
            if not found:
                if not await sweep_some(self._work, self._target):
                    return
                await self._renew()
                continue
            client = ServiceClient(self._work.find(Outgoing), self._target)
            if can_patch is None:
                can_patch = await self._can_patch(client, state)
            pusher = Pusher(self._work, self._target, client, can_patch=can_patch)
            for one in found:
                await self._renew()
                await self._tell_one(pusher, one)
                if time.monotonic() >= until:
                    return

    async def _look_again(self) -> bool:
        """The provider and its application may have changed since; False if it is gone, or leads elsewhere now."""
        found = await find_target(self._work, self._target.provider)
        if found is None or found.url != self._target.url:
            return False
        self._target = found
        return True

    async def _renew(self) -> None:
        if time.monotonic() - self._renewed > RENEW_SECONDS and not await self._hold():
            raise ServiceFailed("another run has begun", wait=1.0)

    async def _can_patch(self, client: ServiceClient, state: TargetState) -> bool:
        config = state.config
        if state.config_at is None or state.config_at < self._work.now - CONFIG_LIFE:
            config = await client.config()
            async with self._work.aside() as aside:
                await store.learn(aside.db, self._target.provider, config, aside.now)
        return config.get("patch") is True

    async def _tell_one(self, pusher: Pusher, one: WaitingResource) -> None:
        provider = self._target.provider
        try:
            await pusher.tell(one.kind, one.local_id)
        except (ServiceRefused, ScimMappingFailed) as refused:
            async with self._work.aside() as aside:
                await self._refused(aside, one, str(refused))
            return
        async with self._work.aside() as aside:
            await store.done(aside.db, provider, one)

    async def _refused(self, work: Work, one: WaitingResource, why: str) -> None:
        """One that the service does not take holds up no other; after some tries it is left until it changes."""
        _log.warning("scim.refused", provider=self._target.name, kind=one.kind, of=one.local_id, reason=why)
        if one.attempts + 1 >= MOST_ATTEMPTS:
            await store.done(work.db, self._target.provider, one)
        else:
            at = work.now + timedelta(seconds=min(LONGEST_PAUSE, FIRST_PAUSE * 4**one.attempts))
            await store.put_off(work.db, self._target.provider, one, at, why[:500])
        if one.attempts in (0, MOST_ATTEMPTS - 1):
            await self._record(work, f"A {one.kind} could not be told.", why, resource=one.local_id, kind=one.kind)

    async def _pause(self, state: TargetState, failed: ServiceFailed) -> datetime:
        why = str(failed)
        _log.warning("scim.failed", provider=self._target.name, reason=why)
        seconds = failed.wait if failed.wait is not None else min(LONGEST_PAUSE, FIRST_PAUSE * 2**state.failures)
        async with self._work.aside() as aside:
            until = aside.now + timedelta(seconds=max(seconds, 1.0))
            await store.pause(aside.db, self._target.provider, until, why[:500])
            if state.failures == 0 and failed.wait is None:
                await self._record(aside, "The service could not be told of people and groups.", why)
        return until

    async def _record(self, work: Work, message: str, why: str, **more: str) -> None:
        context = {
            "message": message,
            "error": why[:500],
            "provider": {"pk": self._target.provider, "name": self._target.name},
            **more,
        }
        await audit.record(work, "configuration_error", "providers.scim", context=context)
