from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from kith.base import vapid
from kith.base.exchange import Exchange
from kith.base.keys import Keys
from kith.base.params import Loose
from kith.base.routing import FromPath, FromRequest, Provided, delete, get, post, put
from kith.base.work import Work
from kith.social.accounts.viewers import Me
from kith.social.errors import missing
from kith.social.guards import anyone, caller_in, find_key, user
from kith.social.ids import AccountId
from kith.social.push import service, unsubscribing
from kith.social.push.entities import WebPushSubscription, render_subscription
from kith.social.push.tables import PushSubscription

PATH = "/api/v1/push/subscription"
PUSH = user("push")
Policy = Literal["all", "followed", "follower", "none"]


class Keypair(msgspec.Struct, kw_only=True):
    p256dh: str
    auth: str


class SubscriptionKeys(msgspec.Struct, kw_only=True):
    endpoint: str
    keys: Keypair
    standard: bool = False


class Data(Loose, kw_only=True):
    alerts: dict[str, bool | None] | None = None
    policy: Policy | None = None


class SubscriptionChange(msgspec.Struct, kw_only=True):
    """The policy may stand in `data`, or beside it."""

    data: Data | None = None
    policy: Policy | None = None

    @property
    def alerts(self) -> dict[str, bool] | None:
        if self.data is None or self.data.alerts is None:
            return None
        return {type: wanted for type, wanted in self.data.alerts.items() if wanted is not None}

    @property
    def chosen_policy(self) -> Policy | None:
        return (self.data.policy if self.data is not None else None) or self.policy


class SubscriptionForm(SubscriptionChange, kw_only=True):
    subscription: SubscriptionKeys | None = None


def _token_hash(exchange: Exchange) -> str:
    """Nobody gets past the guard without a token, or the session of a browser."""
    return caller_in(exchange).key_hash or ""


TokenHash = Annotated[str, Provided(_token_hash)]


def _shown(work: Work, one: PushSubscription) -> WebPushSubscription:
    return render_subscription(one, vapid.public_key(work.find(Keys).vapid))


@get(PATH, guards=[PUSH])
async def show_subscription(work: Work, token_hash: TokenHash) -> WebPushSubscription:
    return _shown(work, await service.find(work, token_hash))


@post(PATH, guards=[PUSH])
async def subscribe(
    exchange: Exchange, work: Work, me: Me, draft: FromRequest[SubscriptionForm]
) -> WebPushSubscription:
    sent = draft.subscription
    if sent is None:
        raise missing("subscription")
    wanted = service.NewSubscription(
        endpoint=sent.endpoint,
        p256dh=sent.keys.p256dh,
        auth=sent.keys.auth,
        standard=sent.standard,
        alerts=draft.alerts,
        policy=draft.chosen_policy,
    )
    return _shown(work, await service.subscribe(work, await _holder(exchange, me), wanted))


async def _holder(exchange: Exchange, me: AccountId) -> service.Holder:
    """The key of a session is kept nowhere, and goes to nobody."""
    caller = caller_in(exchange)
    if caller.is_browser:
        return service.Holder(me, "", caller.key_hash or "", "session")
    kind: Literal["app", "personal"] = "app" if caller.grant_uuid is not None else "personal"
    key = await find_key(exchange)
    return service.Holder(me, key if isinstance(key, str) else "", caller.key_hash or "", kind)


@put(PATH, guards=[PUSH])
async def change_subscription(
    work: Work, token_hash: TokenHash, change: FromRequest[SubscriptionChange]
) -> WebPushSubscription:
    return _shown(work, await service.change(work, token_hash, change.alerts, change.chosen_policy))


@delete(PATH, guards=[PUSH])
async def unsubscribe(work: Work, token_hash: TokenHash) -> dict[str, Any]:
    await service.remove(work, token_hash)
    return {}


@delete(unsubscribing.PATH, guards=[anyone])
async def unsubscribe_by_link(work: Work, link: FromPath[str]) -> dict[str, Any]:
    """For push services, which know no token: the address stands in the header `Unsubscribe-URL`."""
    await service.remove_by_link(work, link)
    return {}


routes = [show_subscription, subscribe, change_subscription, unsubscribe, unsubscribe_by_link]
