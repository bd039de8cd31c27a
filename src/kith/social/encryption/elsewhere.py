"""Devices of people on other servers: a port. Who knows how to ask there gives the real one."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.encryption.tables import Device, EncryptedMessage, OneTimeKey

__all__ = ["DevicesElsewhere", "NoDevicesElsewhere"]


class DevicesElsewhere(Protocol):
    async def devices_of(self, account: Account) -> list[Device]:
        """As their own server tells them now; none where it does not answer. No work may be open for writing."""
        ...

    async def claim(self, me: Account, account: Account, device_id: str) -> tuple[Device, OneTimeKey] | None:
        """One key of a device, which nobody else gets. No work may be open for writing."""
        ...

    async def send(self, work: Work, me: Account, account: Account, device_id: str, message: EncryptedMessage) -> bool:
        """With what else `work` does. False where nobody there takes messages."""
        ...


class NoDevicesElsewhere:
    async def devices_of(self, account: Account) -> list[Device]:  # noqa: ARG002
        return []

    async def claim(self, me: Account, account: Account, device_id: str) -> tuple[Device, OneTimeKey] | None:  # noqa: ARG002
        return None

    async def send(
        self,
        work: Work,  # noqa: ARG002
        me: Account,  # noqa: ARG002
        account: Account,  # noqa: ARG002
        device_id: str,  # noqa: ARG002
        message: EncryptedMessage,  # noqa: ARG002
    ) -> bool:
        return False
