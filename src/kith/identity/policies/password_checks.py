"""What several policies need of a password that somebody is about to choose."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from urllib.parse import urljoin

from kith.base.counted_log import log_counted
from kith.base.http import Outgoing, OutgoingError
from kith.base.work import Work
from kith.identity.policies.breach_list import BadList, count_in_range, count_of
from kith.identity.policies.request import CannotTell, PolicyRequest, PolicyVerdict

MISSING = "Password not set in context"
UNREACHABLE = "The list of breached passwords could not be reached."
_MOST_BYTES = 4 << 20


def find_password(request: PolicyRequest, field: str) -> str | None:
    """What was typed into the form's `field`, or what the context holds under that name."""
    answers = request.context.get("prompt_data")
    for place in (answers, request.context):
        value = place.get(field) if isinstance(place, dict) else None
        if isinstance(value, str):
            return value
    return None


async def judge_breaches(work: Work, password: str, allowed: int) -> PolicyVerdict:
    """Whether the password occurs in at most `allowed` leaks.

    If that cannot be found out, the setting `breach_unreachable` decides; where it is not set, the binding does
    (`failure_result`).
    """
    try:
        count = await _count(work, password)
    except CannotTell:
        match work.settings.breach_unreachable:
            case "allow":
                return PolicyVerdict(passing=True, log=[UNREACHABLE])
            case "refuse":
                return PolicyVerdict(passing=False, messages=[UNREACHABLE])
        raise
    if count > allowed:
        return PolicyVerdict(passing=False, messages=[f"Password exists on {count} online lists."])
    return PolicyVerdict(passing=True)


async def _count(work: Work, password: str) -> int:
    """The local list first, then the range service, if there is one. No part of the hash is logged."""
    digest = hashlib.sha1(password.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest().upper()
    settings = work.settings
    if settings.breach_file:
        try:
            return await asyncio.to_thread(count_of, Path(settings.breach_file), digest)
        except (OSError, BadList) as error:
            log_counted("warning", "breaches.file", cause=error.strerror if isinstance(error, OSError) else str(error))
    if settings.breach_url:
        return await _ask_outside(work, digest)
    raise CannotTell(UNREACHABLE)


async def _ask_outside(work: Work, digest: str) -> int:
    """Only the first five letters of the hash leave this server, and padding hides how long the answer is."""
    url = urljoin(work.settings.breach_url.rstrip("/") + "/", digest[:5])
    try:
        answer = await work.find(Outgoing).request(
            "GET", url, headers={"Add-Padding": "true"}, max_bytes=_MOST_BYTES, timeout=5.0
        )
    except OutgoingError as error:
        raise CannotTell(UNREACHABLE) from error
    if answer.status != 200:
        raise CannotTell(UNREACHABLE)
    return count_in_range(answer.body.decode("ascii", "replace"), digest[5:])
