from __future__ import annotations

from typing import Annotated, Any

import msgspec

from kith.base.errors import Malformed
from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromRequest, Provided, get, post
from kith.base.work import Work
from kith.social.accounts.viewers import Me
from kith.social.encryption import service, store
from kith.social.encryption.entities import render_claimed, render_device, render_devices, render_message
from kith.social.errors import missing
from kith.social.guards import caller_in, member_in, user
from kith.social.ids import AccountId
from kith.social.pages import numbers, page

LIMIT, MOST = 80, 160
MOST_NAMED = 100  # accounts or devices in one call
CRYPTO = user("crypto")


def _key_hash(exchange: Exchange) -> str:
    return caller_in(exchange).key_hash or ""


TokenHash = Annotated[str, Provided(_key_hash)]
TheMemberId = Annotated[int, Provided(lambda exchange: member_in(exchange).id)]


class KeyUpload(msgspec.Struct, kw_only=True):
    device: service.NewDevice | None = None
    one_time_keys: list[service.NewKey] = []


class NamedAccounts(msgspec.Struct, kw_only=True):
    id: list[str] | None = None


class Claim(msgspec.Struct, kw_only=True):
    device: list[service.Target] = []


class Deliveries(msgspec.Struct, kw_only=True):
    device: list[service.MessageDelivery] = []


class UpTo(msgspec.Struct, kw_only=True):
    up_to_id: int | None = None


@post("/api/v1/crypto/keys/upload", guards=[CRYPTO])
async def upload_keys(
    work: Work, me: Me, user_id: TheMemberId, token: TokenHash, sent: FromRequest[KeyUpload]
) -> dict[str, Any]:
    """Hand in the keys of this token's device."""
    if sent.device is None:
        raise missing("device")
    owner = service.Owner(me, user_id, token)
    return render_device(await service.upload(work, owner, sent.device, sent.one_time_keys))


@post("/api/v1/crypto/keys/query", guards=[CRYPTO])
async def query_keys(work: Work, me: Me, named: FromRequest[NamedAccounts]) -> list[dict[str, Any]]:
    """The devices of some accounts."""
    if named.id is None:
        raise missing("id")
    ids = [AccountId(id) for id in numbers(named.id)]
    _limit(len(ids))
    found = await service.devices_of(work, me, ids)
    return [render_devices(account_id, devices) for account_id, devices in found.items()]


@post("/api/v1/crypto/keys/claim", guards=[CRYPTO])
async def claim_keys(work: Work, me: Me, token: TokenHash, sent: FromRequest[Claim]) -> list[dict[str, Any]]:
    """Take a one-time key of each of some devices."""
    await service.find_own(work, token)
    _check_named(sent.device)
    return [render_claimed(device, key) for device, key in await service.claim(work, me, sent.device)]


@get("/api/v1/crypto/keys/count", guards=[CRYPTO])
async def count_keys(work: Work, token: TokenHash) -> dict[str, Any]:
    """How many one-time keys of this device are left."""
    return {"one_time_keys": await store.count_keys(work.db, await service.find_own(work, token))}


@post("/api/v1/crypto/deliveries", guards=[CRYPTO])
async def deliver(work: Work, me: Me, token: TokenHash, sent: FromRequest[Deliveries]) -> dict[str, Any]:
    """Send encrypted messages to some devices."""
    device = await service.find_own(work, token)
    _check_named(sent.device)
    await service.deliver(work, me, device, sent.device)
    return {}


@get("/api/v1/crypto/encrypted_messages", guards=[CRYPTO])
async def show_messages(exchange: Exchange, work: Work, token: TokenHash) -> Answer:
    """What waits for this device."""
    device = await service.find_own(work, token)
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    found = await store.inbox_of(work.db, device, cursor)
    shown = [msgspec.json.encode(render_message(message)) for message in found]
    return page(exchange, cursor, shown, [message.id for message in found], kind=CursorKind.RECORD3)


@post("/api/v1/crypto/encrypted_messages/clear", guards=[CRYPTO])
async def clear_messages(work: Work, token: TokenHash, sent: FromRequest[UpTo]) -> dict[str, Any]:
    """Delete what this device has fetched."""
    device = await service.find_own(work, token)
    if sent.up_to_id is None:
        raise missing("up_to_id")
    await store.clear(work.db, device, sent.up_to_id)
    return {}


def _check_named(devices: list[Any]) -> None:
    if not devices:
        raise missing("device")
    _limit(len(devices))


def _limit(count: int) -> None:
    if count > MOST_NAMED:
        raise Malformed(f"No more than {MOST_NAMED} can be named at once.")


routes = [upload_keys, query_keys, claim_keys, count_keys, deliver, show_messages, clear_messages]
