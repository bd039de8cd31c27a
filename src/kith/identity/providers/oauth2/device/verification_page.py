"""The page on which somebody enters a device's code and answers."""

from __future__ import annotations

import msgspec

from kith.base.exchange import Exchange
from kith.identity.providers.oauth2.access.checks import AccessDenied, AccessRequest, check
from kith.identity.providers.oauth2.clients.client import DEVICE_CODE, Client
from kith.identity.providers.oauth2.clients.scopes import split
from kith.identity.providers.oauth2.consent.scope_texts import permissions
from kith.identity.providers.oauth2.device import codes as devices
from kith.identity.providers.oauth2.grants.service import GrantRequest
from kith.identity.providers.oauth2.tables import DeviceAuthorization
from kith.identity.sessions import service as sessions
from kith.identity.sessions.tables import LoginSession
from kith.identity.users.tables import User


class Waiting(msgspec.Struct, frozen=True):
    """A waiting device, as the page shows it."""

    device: DeviceAuthorization
    client: Client
    permissions: list[str]


async def find_waiting(exchange: Exchange, code: str, user: User, session: LoginSession) -> Waiting | None:
    """Raises `Throttled` for whoever guesses, and `AccessDenied` for whoever may not enter."""
    work = exchange.work
    found = await devices.find(exchange, code, user.id)
    if found is None:
        return None
    device, client = found
    scopes = split(device.scopes)
    await check(work, client, user, session, AccessRequest(scopes=scopes, grant_type=DEVICE_CODE))
    return Waiting(device, client, [one["name"] for one in await permissions(work, client, scopes)])


async def answer_waiting(
    exchange: Exchange, waiting: Waiting, user: User, session: LoginSession, *, allow: bool
) -> bool:
    """False if the code has expired, or was answered by somebody else."""
    work = exchange.work
    if not await sessions.hold(work, session):
        return False
    if not allow:
        return await devices.deny(work, waiting.device, waiting.client, user)
    asked = GrantRequest(
        scopes=split(waiting.device.scopes),
        user_id=user.id,
        session_uuid=session.session_uuid,
        auth_method=session.auth_method,
        auth_time=session.created_at,
    )
    return await devices.approve(work, waiting.device, waiting.client, asked, user=user)


__all__ = ["AccessDenied", "Waiting", "answer_waiting", "find_waiting"]
