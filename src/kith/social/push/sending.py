"""One message to one push service (RFC 8030): its headers, and what the service's answer means."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum

import msgspec

from kith.base import vapid
from kith.base.caches import ForAWhile
from kith.base.http import Outgoing, OutgoingError
from kith.base.keys import Keys
from kith.base.moments import read_http_date
from kith.base.work import Work
from kith.social.push import endpoints, keys, service, unsubscribing
from kith.social.push.encryption import Encrypted, encrypt, encrypt_legacy
from kith.social.push.tables import PushSubscription

__all__ = ["PushOutcome", "Tokens", "Verdict", "send"]

KEPT = timedelta(hours=48)  # by the push service, while the device cannot be reached
TOKEN_LIFE = timedelta(hours=23, minutes=55)  # at most 24 hours, also by a clock that is a little behind ours
TOKEN_USE = timedelta(minutes=30)
SECONDS = 10.0
LONGEST_WAIT = timedelta(hours=6)
TRIED_AGAIN = frozenset({408, 429})


class PushOutcome(Enum):
    DONE = "done"
    GONE = "gone"  # the subscription is of no more use
    LATER = "later"
    REFUSED = "refused"  # by us: nothing was sent


class Verdict(msgspec.Struct, frozen=True):
    """`wait`: how long the service asks us to, at least. `why` is for the log."""

    outcome: PushOutcome
    why: str = ""
    wait: timedelta | None = None


class Tokens:
    """By which push services know us: signed once for each of them, and used for a while."""

    def __init__(self) -> None:
        self._kept: ForAWhile[str] = ForAWhile("push_tokens", seconds=TOKEN_USE.total_seconds(), most=2000)

    def find(self, work: Work, origin: str) -> str:
        found = self._kept.get(origin)
        if found is None:
            found = vapid.sign(
                work.find(Keys).vapid, audience=origin, subject=_subject(work), expires_at=work.now + TOKEN_LIFE
            )
            self._kept.put(origin, found)
        return found


def _subject(work: Work) -> str:
    """Whom a push service can write to."""
    settings = work.settings
    return f"mailto:{settings.contact_email}" if settings.contact_email else settings.base_url


async def send(work: Work, subscription: PushSubscription, text: bytes) -> Verdict:
    """Nothing is written here; nothing may have been before."""
    if not endpoints.is_sendable(work, subscription.endpoint):
        return Verdict(PushOutcome.REFUSED, "not https")
    encrypted = _encrypted(work, subscription, text)
    headers = encrypted.headers | _headers(work, subscription, encrypted)
    try:
        # The body of the answer tells us nothing and is not read, however long it is.
        async with work.find(Outgoing).stream(
            "POST", subscription.endpoint, headers=headers, body=encrypted.body, timeout=SECONDS, max_redirects=0
        ) as answer:
            return _verdict(answer.status, answer.headers.get("Retry-After", ""), work.now)
    except OutgoingError as error:
        refused = error.reason in ("refused_address", "bad_url")
        return Verdict(PushOutcome.REFUSED if refused else PushOutcome.LATER, error.reason)


def _encrypted(work: Work, subscription: PushSubscription, text: bytes) -> Encrypted:
    receiver = keys.decode(subscription.p256dh) or b""
    make = encrypt if subscription.standard else encrypt_legacy
    return make(text, receiver, service.auth_of(work, subscription))


def _headers(work: Work, subscription: PushSubscription, encrypted: Encrypted) -> dict[str, str]:
    public = vapid.public_key(work.find(Keys).vapid)
    token = work.find(Tokens).find(work, endpoints.origin_of(subscription.endpoint))
    headers = {
        "Content-Type": "application/octet-stream",
        "TTL": str(int(KEPT.total_seconds())),
        "Urgency": "normal",
        "Unsubscribe-URL": unsubscribing.make(work, subscription, work.now + KEPT),
    }
    if subscription.standard:
        return headers | {"Authorization": f"vapid t={token},k={public}"}
    return headers | {
        "Authorization": f"WebPush {token}",
        "Crypto-Key": f"{encrypted.headers['Crypto-Key']};p256ecdsa={public}",
    }


def _verdict(status: int, retry_after: str, now: datetime) -> Verdict:
    why = f"answered {status}"
    if 200 <= status < 300:
        return Verdict(PushOutcome.DONE)
    if 400 <= status < 500 and status not in TRIED_AGAIN:
        return Verdict(PushOutcome.GONE, why)
    return Verdict(PushOutcome.LATER, why, _wait(retry_after, now))


def _wait(retry_after: str, now: datetime) -> timedelta | None:
    """Seconds, or a date; not longer than some hours."""
    text = retry_after.strip()[:40]
    if text.isascii() and text.isdigit():
        return min(timedelta(seconds=int(text[:9])), LONGEST_WAIT)
    until = read_http_date(text)
    return None if until is None else min(until - now, LONGEST_WAIT)
