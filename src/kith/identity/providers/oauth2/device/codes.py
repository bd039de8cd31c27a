"""Device authorization (RFC 8628): a device without a browser shows a code, which is entered in a browser."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, delete, select, update

from kith.base.db import UID, Instant, Taken, command, insert_into, query
from kith.base.errors import Throttled
from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.access.checks import model_of
from kith.identity.providers.oauth2.authentication.clients import client_of
from kith.identity.providers.oauth2.claims.scope_mappings import granted_scopes
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import DEVICE_CODE, Client
from kith.identity.providers.oauth2.errors import OAuthError, invalid_grant, invalid_scope
from kith.identity.providers.oauth2.grants import service, visits
from kith.identity.providers.oauth2.grants.service import GrantRequest, hash_key
from kith.identity.providers.oauth2.tables import DeviceAuthorization, Grant, devices
from kith.identity.users.tables import User

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # no vowels, so no words; none that is mistaken for another
LIFE = timedelta(minutes=10)
INTERVAL = 5
SLOWER = 5
STARTS = LimitRule("oauth-device", most=20, seconds=3600)
GUESSES = LimitRule("oauth-device-code", most=10, seconds=600)

_now = bindparam("now", type_=Instant())
_hash: Any = bindparam("hash")
_seen: Any = bindparam("seen", type_=Instant())
_insert = command(insert_into(devices))
_by_device = query(select(devices).where(devices.c.device_hash == _hash), DeviceAuthorization)
_by_code = query(
    select(devices).where(
        and_(devices.c.user_code_hash == _hash, devices.c.state == "pending", devices.c.expires_at > _now)
    ),
    DeviceAuthorization,
)
# If a device polls several times at once, only one poll counts as in time.
_poll = command(
    update(devices)
    .where(and_(devices.c.device_hash == _hash, devices.c.polled_at.is_not_distinct_from(_seen)))
    .values(polled_at=_now, interval=bindparam("wait"))
)
_decide = command(
    update(devices)
    .where(and_(devices.c.device_hash == _hash, devices.c.state == "pending", devices.c.expires_at > _now))
    .values(state=bindparam("becomes"), grant_uuid=bindparam("grant", type_=UID()))
)
_claim = query(
    delete(devices)
    .where(and_(devices.c.device_hash == _hash, devices.c.state == "approved", devices.c.expires_at > _now))
    .returning(devices),
    DeviceAuthorization,
)
_drop = command(delete(devices).where(devices.c.device_hash == _hash))


async def start(exchange: Exchange, sent: dict[str, str]) -> dict[str, Any]:
    """The device authorization response."""
    client, work = await client_of(exchange, sent), exchange.work
    if DEVICE_CODE not in client.grant_types:
        raise OAuthError("unauthorized_client", "This client may not use device codes.")
    try:
        exchange.spent = await exchange.find(Limiter).spend_strictly(STARTS, address_key(exchange.address))
    except Throttled as error:
        headers = {"Retry-After": str(error.retry_after)}
        raise OAuthError("slow_down", "Too many devices from this address.", status=429, headers=headers) from error
    scopes = await granted_scopes(work, client, sent.get("scope", ""))
    if scopes is None:
        raise invalid_scope()
    device_code, user_code = await _keep(work, client, scopes, exchange.address)
    page = f"{work.settings.base_url}/device"
    return {
        "device_code": device_code,
        "user_code": user_code,
        "verification_uri": page,
        "verification_uri_complete": f"{page}?code={user_code}",
        "expires_in": int(LIFE.total_seconds()),
        "interval": INTERVAL,
    }


async def _keep(work: Work, client: Client, scopes: list[str], address: str) -> tuple[str, str]:
    """Store it; a user code that is already in use is replaced by another."""
    for _ in range(5):
        device_code, letters = service.new_key(), "".join(secrets.choice(LETTERS) for _ in range(8))
        row = DeviceAuthorization(
            device_hash=hash_key(device_code),
            user_code_hash=hash_key(letters),
            client_id=client.client_id,
            provider_id=client.provider_id,
            app_id=client.app_id,
            scopes=" ".join(scopes),
            state="pending",
            grant_uuid=None,
            client_ip=address,
            interval=INTERVAL,
            polled_at=None,
            expires_at=work.now + LIFE,
        )
        try:
            async with work.db.savepoint():
                await work.db.run(
                    _insert, **{name: getattr(row, name) for name in DeviceAuthorization.__struct_fields__}
                )
        except Taken:
            continue
        return device_code, f"{letters[:4]}-{letters[4:]}"
    raise OAuthError("temporarily_unavailable", "Please try again.", status=503)


def read_code(text: str) -> str:
    """The code in its normal form: blanks, dashes and case do not matter."""
    return "".join(letter for letter in text.upper() if letter in LETTERS)


async def find(exchange: Exchange, text: str, user_id: int) -> tuple[DeviceAuthorization, Client] | None:
    """The waiting device with this code. Tries are limited by person and by address."""
    limiter, work, code = exchange.find(Limiter), exchange.work, read_code(text)
    keys = (f"user:{user_id}", address_key(exchange.address))
    paid = await limiter.pay(*((GUESSES, who) for who in keys))
    row: DeviceAuthorization | None = None
    if len(code) == 8:
        row = await work.db.one(_by_code, hash=hash_key(code), now=work.now)
    client = await clients.find(work, row.client_id) if row is not None else None
    if row is None or client is None or client.is_suspended:
        return None
    await paid.give_back()
    return row, client


async def approve(work: Work, device: DeviceAuthorization, client: Client, asked: GrantRequest, *, user: User) -> bool:
    """Store the approval; False if the code has expired or was answered before."""
    # The grant is not bound to the browser's session, so the device stays signed in.
    grant = await service.open_grant(work, client, msgspec.structs.replace(asked, session_uuid=None))
    done = await work.db.run(_decide, hash=device.device_hash, now=work.now, becomes="approved", grant=grant.grant_uuid)
    if not done:
        await store.drop_grant(work.db, grant.grant_uuid)
        return False
    await visits.note(work, client, grant, user)
    context = {
        "authorized_application": model_of(client),
        "client": client.client_id,
        "grant_type": DEVICE_CODE,
        "scopes": grant.scopes,
    }
    await audit.record(
        work, "authorize_application", "providers.oauth2", user_id=user.id, username=user.username, context=context
    )
    return True


async def deny(work: Work, device: DeviceAuthorization, client: Client, user: User) -> bool:
    done = await work.db.run(_decide, hash=device.device_hash, now=work.now, becomes="denied", grant=None)
    if done:
        context = {
            "authorized_application": model_of(client),
            "client": device.client_id,
            "grant_type": DEVICE_CODE,
            "message": "A device was refused.",
        }
        await audit.record(
            work, "authorization_refused", "providers.oauth2", user_id=user.id, username=user.username, context=context
        )
    return bool(done)


async def find_approved(work: Work, client: Client, key: str) -> Grant:
    """The grant for a device code; raises the error that tells why there is none yet."""
    row = await work.db.one(_by_device, hash=hash_key(key))
    if row is None or row.client_id != client.client_id:
        raise invalid_grant()
    if row.expires_at <= work.now:
        raise OAuthError("expired_token", "The device code has expired.")
    if row.state == "denied":
        async with work.aside() as aside:
            await aside.db.run(_drop, hash=row.device_hash)
        raise OAuthError("access_denied", "The request was refused.", status=403)
    await _wait(work, row)
    if row.state != "approved" or row.grant_uuid is None:
        raise OAuthError("authorization_pending", "Nobody has answered yet.")
    grant = await store.find_grant(work.db, row.grant_uuid)
    if grant is None:
        raise invalid_grant()
    return grant


async def _wait(work: Work, row: DeviceAuthorization) -> None:
    """Store the time of this poll at once; whoever polls too often gets a longer interval."""
    early = row.polled_at is not None and work.now - row.polled_at < timedelta(seconds=row.interval)
    wait = min(row.interval + SLOWER, 60) if early else row.interval
    async with work.aside() as aside:
        first = await aside.db.run(_poll, hash=row.device_hash, seen=row.polled_at, now=work.now, wait=wait)
    if early or not first:
        raise OAuthError("slow_down", "Please ask less often.")


async def claim(work: Work, key: str) -> None:
    """Use the device code up, in one statement."""
    if await work.db.one(_claim, hash=hash_key(key), now=work.now) is None:
        raise invalid_grant()
