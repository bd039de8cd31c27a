"""Small documents that clients keep on their own servers: their keys, their redirect URIs, their requests."""

from __future__ import annotations

from kith.base.http import Outgoing, OutgoingError
from kith.base.work import Work

MOST_BYTES = 64 * 1024
SECONDS = 5.0


class NotFetched(Exception):  # noqa: N818 - the document was
    """The client's server could not be reached, or did not answer with the document."""


async def fetch(work: Work, url: str) -> bytes:
    """Call it before the first write. Redirects are not followed: the address is one that the client registered."""
    try:
        answer = await work.find(Outgoing).request(
            "GET", url, max_bytes=MOST_BYTES, timeout=SECONDS, max_redirects=None
        )
    except OutgoingError as error:
        raise NotFetched(f"{url[:200]} could not be fetched") from error
    if answer.status != 200:
        raise NotFetched(f"{url[:200]} answered {answer.status}")
    return answer.body
