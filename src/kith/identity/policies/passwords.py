"""What several policies need to know of a password that somebody is about to choose."""

from __future__ import annotations

import hashlib
from urllib.parse import urljoin

from kith.base.http import Outgoing, OutgoingError
from kith.base.work import Work
from kith.identity.policies.request import CannotTell, PolicyRequest

MISSING = "Password not set in context"
_UNREACHABLE = "The list of breached passwords could not be reached."
_MOST_BYTES = 4 << 20


def find_password(request: PolicyRequest, field: str) -> str | None:
    """What was typed into the form's `field`, or what the context holds under that name."""
    answers = request.context.get("prompt_data")
    for place in (answers, request.context):
        value = place.get(field) if isinstance(place, dict) else None
        if isinstance(value, str):
            return value
    return None


async def count_breaches(work: Work, password: str) -> int:
    """In how many leaks the password is known to be. Only the first five letters of its hash leave this server."""
    digest = hashlib.sha1(password.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest().upper()
    prefix, suffix = digest[:5], digest[5:]
    url = urljoin(work.settings.breach_url.rstrip("/") + "/", prefix)
    try:
        answer = await work.find(Outgoing).request(
            "GET", url, headers={"Add-Padding": "true"}, max_bytes=_MOST_BYTES, timeout=5.0
        )
    except OutgoingError as error:
        raise CannotTell(_UNREACHABLE) from error
    if answer.status != 200:
        raise CannotTell(_UNREACHABLE)
    return _count_in(answer.body.decode("ascii", "replace"), suffix)


def _count_in(text: str, suffix: str) -> int:
    """Padding looks like any other row, but its count is zero."""
    for line in text.splitlines():
        found, _, count = line.strip().partition(":")
        if found.upper() == suffix:
            return int(count) if count.isascii() and count.isdigit() and len(count) < 16 else 0
    return 0


def breach_words(count: int) -> str:
    return f"Password exists on {count} online lists."
