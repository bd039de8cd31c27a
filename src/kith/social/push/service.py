"""Subscriptions to one's notifications: one for each access token, made, changed and ended by its app.

So has each browser that is signed in: there the session stands in place of the token, and is never sent anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from kith.base.db import Dangling
from kith.base.errors import Complaint, Invalid, NotFound, Unauthenticated
from kith.base.work import Work
from kith.identity.for_social import Sealer
from kith.social.accounts.facts import AccountDeleted
from kith.social.ids import AccountId
from kith.social.notifications.service import TYPES
from kith.social.push import endpoints, keys, store, unsubscribing
from kith.social.push.tables import PushSubscription

__all__ = [
    "Holder",
    "NewSubscription",
    "SessionSubscriptions",
    "auth_of",
    "change",
    "find",
    "forget_account",
    "remove",
    "remove_by_link",
    "subscribe",
    "token_of",
]

MOST = 50  # of one person; each of their notifications is sent to all of them
# What an app that names no alerts gets.
DEFAULT_ALERTS = {type: type != "follow_request" for type in TYPES}
_TOKEN, _AUTH = "social_push_subscriptions.access_token", "social_push_subscriptions.auth"


class Holder(msgspec.Struct, frozen=True):
    """Whose subscription it is: an account, and the access token that an app holds for it.

    Of a browser's session there is the hash alone, and no token.
    """

    account_id: AccountId
    token: str
    token_hash: str
    kind: Literal["app", "personal", "session"]


class NewSubscription(msgspec.Struct, frozen=True, kw_only=True):
    endpoint: str
    p256dh: str
    auth: str
    standard: bool
    alerts: Mapping[str, bool] | None = None
    policy: str | None = None


async def find(work: Work, token_hash: str) -> PushSubscription:
    found = await store.find_by_token(work.db, token_hash)
    if found is None:
        raise NotFound("Not Found")
    return found


async def subscribe(work: Work, holder: Holder, wanted: NewSubscription) -> PushSubscription:
    """In place of the token's former one, if it had any. With more than enough, a person's oldest ones end."""
    p256dh, auth = await _checked(work, wanted)
    sealer = work.find(Sealer)
    new = PushSubscription(
        id=0,
        account_id=holder.account_id,
        oauth_hash=holder.token_hash if holder.kind == "app" else None,
        personal_hash=holder.token_hash if holder.kind == "personal" else None,
        session_hash=holder.token_hash if holder.kind == "session" else None,
        access_token=sealer.seal(holder.token, _TOKEN),
        endpoint=wanted.endpoint,
        p256dh=p256dh,
        auth=sealer.seal(auth, _AUTH),
        standard=wanted.standard,
        alerts=DEFAULT_ALERTS if wanted.alerts is None else _known(wanted.alerts),
        policy=wanted.policy or "all",
        created_at=work.now,
    )
    await work.db.hold(f"push:{holder.token_hash}")
    await store.remove_by_token(work.db, holder.token_hash)
    try:
        new.id = await store.insert(work.db, new)
    except Dangling as error:  # the token ended while its app was let in
        raise Unauthenticated("The access token was revoked") from error
    await store.remove_oldest(work.db, holder.account_id, keep=MOST)
    return new


async def _checked(work: Work, wanted: NewSubscription) -> tuple[str, str]:
    """Both keys, as they are kept; before any write, since the endpoint's name is looked up."""
    point, auth = keys.decode(wanted.p256dh), keys.decode(wanted.auth)
    is_point, is_secret = point is not None and keys.is_point(point), auth is not None and len(auth) == keys.AUTH_BYTES
    complaints = {
        "endpoint": await endpoints.complain(work, wanted.endpoint),
        "p256dh": None if is_point else Complaint("is not a public key on the curve P-256"),
        "auth": None if is_secret else Complaint("is not a secret of 16 bytes"),
    }
    fields: dict[str, list[str]] = {name: [words] for name, words in complaints.items() if words is not None}
    if fields or point is None or auth is None:
        raise Invalid(fields=fields)
    return keys.encode(point), keys.encode(auth)


def _known(alerts: Mapping[str, bool]) -> dict[str, bool]:
    """Types that nobody knows are as if they were not there."""
    return {type: wanted for type, wanted in alerts.items() if type in TYPES}


async def change(
    work: Work, token_hash: str, alerts: Mapping[str, bool] | None, policy: str | None
) -> PushSubscription:
    """Alerts that are sent replace all former ones; what is not sent stays."""
    await work.db.hold(f"push:{token_hash}")
    found = await find(work, token_hash)
    changed = msgspec.structs.replace(
        found, alerts=found.alerts if alerts is None else _known(alerts), policy=policy or found.policy
    )
    await store.change(work.db, changed)
    return changed


async def remove(work: Work, token_hash: str) -> None:
    await store.remove_by_token(work.db, token_hash)


async def remove_by_link(work: Work, link: str) -> None:
    """A push service ends a subscription, by the address that came with a message."""
    said = unsubscribing.read(link)
    found = None if said is None else await store.find(work.db, said.subscription_id)
    if said is None or found is None or not unsubscribing.is_genuine(work, said, found):
        raise NotFound
    await store.remove(work.db, found)


def token_of(work: Work, subscription: PushSubscription) -> str | None:
    """None for a browser."""
    if subscription.session_hash is not None:
        return None
    return work.find(Sealer).open(subscription.access_token, _TOKEN)


def auth_of(work: Work, subscription: PushSubscription) -> bytes:
    return keys.decode(work.find(Sealer).open(subscription.auth, _AUTH)) or b""


class SessionSubscriptions:
    """Whoever signs in again in the same browser is still told there."""

    async def move(self, work: Work, old: str, new: str) -> None:
        await store.move(work.db, old, new)


async def forget_account(work: Work, fact: AccountDeleted) -> None:
    await store.remove_of_account(work.db, fact.account_id)
