"""How much of a device's inbox and of its keys one sender, and all senders of one server, may have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kith.base.http.sites import site_of_domain
from kith.base.limits import Limiter, LimitRule
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.encryption import store
from kith.social.encryption.tables import Device

__all__ = ["InboxRoom", "spend_claim"]

MOST_MESSAGES = 1000  # that wait for a device to fetch them
MOST_OF_SENDER = 250
MOST_OF_SITE = 500  # of all who are of one registered domain elsewhere

# Keys are used up by being claimed: nobody takes all that a device has, and no server does by many names.
CLAIMS = LimitRule("device_keys", most=20, seconds=3600)
CLAIMS_OF_SITE = LimitRule("device_keys_site", most=60, seconds=3600)


class InboxRoom:
    """Room that is left in the inboxes of some devices. Whoever asks holds these inboxes."""

    def __init__(self) -> None:
        self._waiting: Counter[tuple[int, str]] = Counter()

    @classmethod
    async def of(cls, work: Work, devices: Sequence[Device]) -> InboxRoom:
        room = cls()
        for device_row, sender, domain, count in await store.count_messages(work.db, devices):
            room._add(device_row, str(sender), domain, count)
        return room

    def take(self, device: Device, sender: Account) -> bool:
        """Count one more; False if it has no room."""
        self._add(device.id, str(sender.id), sender.domain, 1)
        waiting = self._waiting
        return (
            waiting[device.id, ""] <= MOST_MESSAGES
            and waiting[device.id, str(sender.id)] <= MOST_OF_SENDER
            and (not sender.domain or waiting[device.id, site_of_domain(sender.domain)] <= MOST_OF_SITE)
        )

    def _add(self, device_row: int, sender: str, domain: str, count: int) -> None:
        self._waiting[device_row, ""] += count
        self._waiting[device_row, sender] += count
        if domain:
            self._waiting[device_row, site_of_domain(domain)] += count


def spend_claim(work: Work, claimant: Account, device: Device) -> None:
    """Count a claim of one of the device's keys; raises `Throttled`."""
    limiter = work.find(Limiter)
    limiter.spend(CLAIMS, f"{claimant.id}:{device.id}")
    if claimant.domain:
        limiter.spend(CLAIMS_OF_SITE, f"{device.id}:{site_of_domain(claimant.domain)}")
