"""The address that goes with every message, at which a push service can end the subscription it was sent to.

It names the subscription and ends after as long as a message is kept; a seal made with the server's key proves that it
is ours. A number may be given to another subscription later, so the seal also covers when the subscription was made.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from datetime import datetime

import msgspec

from kith.base.keys import Keys
from kith.base.work import Work
from kith.social.push.tables import PushSubscription

__all__ = ["PATH", "Link", "is_genuine", "make", "read"]

PATH = "/api/web/push_subscriptions/{link}"
_LARGEST_ID = 2**31 - 1
_LINK = re.compile(r"([0-9]{1,10})-([0-9]{1,12})-([0-9a-f]{64})")


class Link(msgspec.Struct, frozen=True):
    subscription_id: int
    until: int
    seal: str


def make(work: Work, subscription: PushSubscription, until: datetime) -> str:
    """The whole address."""
    ends = int(until.timestamp())
    link = f"{subscription.id}-{ends}-{_seal(work, subscription, ends)}"
    return work.settings.base_url + PATH.format(link=link)


def read(text: str) -> Link | None:
    match = _LINK.fullmatch(text)
    if match is None or int(match[1]) > _LARGEST_ID:
        return None
    return Link(int(match[1]), int(match[2]), match[3])


def is_genuine(work: Work, link: Link, subscription: PushSubscription) -> bool:
    """Whether it was made here for this subscription, and has not ended."""
    if link.until <= work.now.timestamp():
        return False
    return hmac.compare_digest(link.seal, _seal(work, subscription, link.until))


def _seal(work: Work, subscription: PushSubscription, until: int) -> str:
    said = f"push.unsubscribe:{subscription.id}:{subscription.created_at.isoformat()}:{until}"
    return hmac.new(work.find(Keys).signing, said.encode(), hashlib.sha256).hexdigest()
