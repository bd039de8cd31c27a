"""Sending to one host what is due for it."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from kith.base.counted_log import log_counted
from kith.base.errors import NotFound
from kith.base.http import OutgoingError, PostAnswer
from kith.base.work import Work
from kith.federation.delivery import store
from kith.federation.delivery.couriers import HELD, Content, Couriers
from kith.federation.delivery.host_states import BREAK_AT, HostTally
from kith.federation.delivery.ledger import Outcome
from kith.federation.delivery.rules import (
    DeliveryResult,
    judged,
    needs_second_knock,
    pause_before,
    read_retry_after,
)
from kith.federation.delivery.tables import DeliveryHost, DueDelivery
from kith.federation.keys import service as keys
from kith.federation.signatures.signing import RequestToSign, Signer, SigningScheme
from kith.social.ids import AccountId

__all__ = ["HostRun"]

STRETCH = 64
STRETCH_BYTES = 2 * 1024 * 1024  # of different bodies, or a single one
AT_ONCE = 8  # to one host
AT_ONCE_TO_TROUBLED = 2
RUN_SECONDS = 5.0  # after which no further stretch is begun
STRETCH_SECONDS = 30.0  # after which nothing more of a stretch is begun
SLOW_SECONDS = 3.0
LONGEST_ERROR = 300
CONTENT_TYPE = "application/activity+json"
_OTHER = {SigningScheme.CAVAGE: SigningScheme.RFC9421, SigningScheme.RFC9421: SigningScheme.CAVAGE}


class _Letter(msgspec.Struct):
    """A delivery with all that is needed to send it."""

    delivery: DueDelivery
    content: Content
    signer: Signer
    newer: Signer | None = None  # of the same sender, where `signer` is the one before


class HostRun:
    """Sends until nothing is due, the host does not answer, or others should have a turn.

    What one sender has for one inbox goes out in its order, each after the answer to the one before. If one fails,
    those behind it wait for it, as long as it has not failed often.
    """

    def __init__(self, work: Work, host: DeliveryHost) -> None:
        self._work, self._host = work, host
        self._couriers = work.find(Couriers)
        self.tally = HostTally()
        self._scheme = SigningScheme(host.scheme) if host.scheme else None
        self._signers: dict[tuple[int, bool], Signer | None] = {}
        self._written: list[asyncio.Future[None]] = []

    @property
    def _is_over(self) -> bool:
        """It asked for a pause, or failed too often; or we have no place to ask it."""
        if self.tally.is_unasked:
            return True
        failures = self.tally.failures + (0 if self.tally.answered else self._host.failures)
        return self.tally.paused_until is not None or (self.tally.failures > 0 and failures >= BREAK_AT)

    async def run(self) -> HostTally:
        until = time.monotonic() + RUN_SECONDS
        while time.monotonic() < until and not self._is_over:
            is_open = self._host.failures < BREAK_AT or self.tally.answered > 0
            most = STRETCH if is_open else 1  # after too many failures in a row
            taken = await self._take(most)
            sent = _as_much_as_has_room(taken)
            await self._send_stretch(taken, sent)
            if self._is_over or self.tally.failures or (len(taken) < most and len(sent) == len(taken)):
                break  # what comes now is a job of its own
        return self.tally

    async def _take(self, most: int) -> list[DueDelivery]:
        async with self._work.aside() as aside:
            return await store.claim(
                aside.db,
                self._host.domain,
                me=self._couriers.id,
                alone=self._couriers.is_alone,
                dead=self._host.unavailable_since is not None,
                most=most,
                now=aside.now,
                until=aside.now + HELD,
            )

    async def _send_stretch(self, taken: Sequence[DueDelivery], sent: Sequence[DueDelivery]) -> None:
        """Send `sent`, and first give back the rest of `taken`, for which there was no room in this stretch."""
        if not taken:
            return
        if len(sent) < len(taken):
            await self._release({one.id for one in taken[len(sent) :]})
        left = {one.id for one in sent}
        with self._couriers.holding(frozenset(left)):
            try:
                await self._send_chains(_chains(await self._prepare(sent, left)), left)
            finally:
                await self._end_stretch(left)

    async def _end_stretch(self, left: set[int]) -> None:
        written, self._written = self._written, []
        if left:
            await self._release(left)
        for one in written:
            await one

    async def _release(self, ids: set[int]) -> None:
        async with self._work.aside() as aside:
            await store.release(aside.db, sorted(ids), self._couriers.id)

    async def _send_chains(self, chains: deque[deque[_Letter]], left: set[int]) -> None:
        """The first alone: only a host that answers it gets several at once."""
        until = time.monotonic() + STRETCH_SECONDS

        async def walk() -> None:
            while chains and time.monotonic() < until:
                chain = chains.popleft()
                while chain and not self._is_over and time.monotonic() < until:
                    letter = chain.popleft()
                    if not await self._send(letter, left):
                        break

        if not self.tally.answered and chains:
            await self._send(chains[0].popleft(), left)
            if self.tally.failures or self.tally.is_unasked:
                return
        most = AT_ONCE_TO_TROUBLED if self._host.is_troubled else AT_ONCE
        await asyncio.gather(*(walk() for _ in range(min(most, len(chains)))))

    # One of them

    async def _send(self, letter: _Letter, left: set[int]) -> bool:
        """Whether the next one of its chain may follow."""
        delivery, again_at = letter.delivery, None
        try:
            answer = await self._knock(letter)
        except OutgoingError as error:
            if error.reason == "busy":  # nothing is written of it: it is given back as it was
                self.tally.is_unasked = True
                return False
            result, why = DeliveryResult.FAILED, str(error)
        except ValueError as error:  # a header that cannot be written
            result, why = DeliveryResult.DROPPED, f"it cannot be signed: {error}"
        else:
            result, why = judged(answer.status), f"HTTP {answer.status}"
            again_at = read_retry_after(answer.status, answer.retry_after, datetime.now(UTC))
        self._count(result, why, again_at)
        outcome = _outcome(delivery, result, again_at)
        if outcome.result is not DeliveryResult.DELIVERED:
            log_counted(
                "info",
                f"federation.delivery_{outcome.result}",
                delivery.domain,
                domain=delivery.domain,
                sender=delivery.sender,
                attempt=delivery.attempts + 1,
                cause=why[:LONGEST_ERROR],
            )
        self._written.append(self._couriers.ledger.record(outcome))
        left.discard(delivery.id)
        return outcome.result is not DeliveryResult.FAILED or outcome.attempts > store.WAITED_FOR

    def _count(self, result: DeliveryResult, why: str, again_at: datetime | None) -> None:
        tally = self.tally
        if result is DeliveryResult.FAILED:
            tally.failures += 1
            tally.error = why[:LONGEST_ERROR]
        elif result is not DeliveryResult.DROPPED:
            tally.answered += 1
            tally.delivered += result is DeliveryResult.DELIVERED
            tally.failures = 0
        tally.paused_until = again_at or tally.paused_until

    async def _knock(self, letter: _Letter) -> PostAnswer:
        """A host that does not believe the key that was in use before may know the one that is in use now."""
        answer = await self._knock_with(letter, letter.signer)
        if answer.status == 401 and letter.newer is not None:
            answer = await self._knock_with(letter, letter.newer)
        return answer

    async def _knock_with(self, letter: _Letter, signer: Signer) -> PostAnswer:
        """With the signature that the host has accepted before, else with the older one; if it does not like that,
        once more with the other."""
        scheme = self._scheme or SigningScheme.CAVAGE
        answer = await self._post(letter, signer, scheme)
        if needs_second_knock(answer.status, is_known=self._scheme is not None):
            other = _OTHER[scheme]
            again = await self._post(letter, signer, other)
            if judged(again.status) is DeliveryResult.DELIVERED:
                scheme = other
            if again.status not in (400, 401):
                answer = again
        if judged(answer.status) is DeliveryResult.DELIVERED:
            self._scheme = scheme
            self.tally.scheme = scheme.value
        return answer

    async def _post(self, letter: _Letter, signer: Signer, scheme: SigningScheme) -> PostAnswer:
        headers = {"content-type": CONTENT_TYPE, **(letter.delivery.headers or {})}
        request = RequestToSign("POST", letter.delivery.inbox, letter.content.digest, headers)
        signed = await self._couriers.desk.sign(signer, request, scheme)
        started_at = time.monotonic()
        try:
            return await self._couriers.outgoing.post(letter.delivery.inbox, signed, letter.content.body)
        finally:
            self.tally.is_slow = time.monotonic() - started_at > SLOW_SECONDS

    # What is needed for it

    async def _prepare(self, taken: Sequence[DueDelivery], left: set[int]) -> list[_Letter]:
        """What nobody can sign any more is dropped."""
        found = await self._couriers.contents(self._work, {one.outgoing_id for one in taken})
        letters = []
        for one in taken:
            content = found.get(one.outgoing_id)
            signer = await self._signer(one.sender) if content is not None else None
            if content is None or signer is None:
                self._written.append(
                    self._couriers.ledger.record(Outcome(one.id, one.outgoing_id, DeliveryResult.DROPPED))
                )
                left.discard(one.id)
            else:
                letter = _Letter(one, content, signer)
                previous = await self._signer(one.sender, previous=True) if content.with_previous_key else None
                if previous is not None:
                    letter.signer, letter.newer = previous, signer
                letters.append(letter)
        return letters

    async def _signer(self, sender: int, *, previous: bool = False) -> Signer | None:
        key = (sender, previous)
        if key not in self._signers:
            self._signers[key] = await self._find_signer(AccountId(sender) if sender else None, previous=previous)
        return self._signers[key]

    async def _find_signer(self, owner: AccountId | None, *, previous: bool) -> Signer | None:
        find = keys.previous_signer if previous else keys.signer
        try:
            return await find(self._work, owner)
        except NotFound:
            return None


def _as_much_as_has_room(taken: Sequence[DueDelivery]) -> Sequence[DueDelivery]:
    """The beginning of what was taken that fits into one stretch, and one delivery in any case."""
    seen: set[int] = set()
    size = 0
    for number, one in enumerate(taken):
        size += 0 if one.outgoing_id in seen else one.size
        seen.add(one.outgoing_id)
        if number and size > STRETCH_BYTES:
            return taken[:number]
    return taken


def _chains(letters: Sequence[_Letter]) -> deque[deque[_Letter]]:
    """Those of one sender to one inbox, in their order."""
    found: dict[tuple[str, int], deque[_Letter]] = {}
    for letter in letters:
        found.setdefault((letter.delivery.inbox, letter.delivery.sender), deque()).append(letter)
    return deque(found.values())


def _outcome(delivery: DueDelivery, result: DeliveryResult, again_at: datetime | None) -> Outcome:
    if result is DeliveryResult.FAILED and delivery.attempts >= delivery.retries:
        result = DeliveryResult.GAVE_UP
    if result is not DeliveryResult.FAILED:
        return Outcome(delivery.id, delivery.outgoing_id, result)
    usual = datetime.now(UTC) + pause_before(delivery.attempts)
    return Outcome(delivery.id, delivery.outgoing_id, result, delivery.attempts + 1, max(usual, again_at or usual))
