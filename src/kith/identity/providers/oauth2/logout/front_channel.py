"""Front-channel logout: addresses of clients that are loaded in the browser (OpenID Connect Front-Channel Logout 1.0).

Where no browser comes, because a session has ended by itself or by somebody else, the server loads the address. Many
clients know the session by `sid` and end it; one that needs its cookie cannot be told.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from urllib.parse import urlencode, urlsplit

import msgspec
import structlog

from kith.base.http import Outgoing, OutgoingError
from kith.base.jobs import MAKES_ROOM, JobKind
from kith.base.work import Work
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.tables import Visit
from kith.identity.users import store as users

BROWSER_COMES = timedelta(seconds=30)
MOST_BYTES = 256 * 1024
_log = structlog.get_logger()


class FrontNotice(msgspec.Struct):
    """The job's payload."""

    client_id: str
    url: str


class ClientNotTold(Exception):  # noqa: N818 - an answer
    """The client could not be reached; the job is tried again, with growing pauses."""


def is_front(client: Client) -> bool:
    return urlsplit(client.front_channel).scheme in ("http", "https")


def address_of(work: Work, client: Client, sid: str) -> str:
    told = urlencode({"iss": client.issuer(work.settings.base_url), "sid": sid})
    return f"{client.front_channel}{'&' if '?' in client.front_channel else '?'}{told}"


async def tell_without_browser(work: Work, visit: Visit, *, in_browser: bool) -> None:
    """Enqueue loading the address; `in_browser`: after the time in which a browser would have done it.

    No browser signs out whoever was disabled.
    """
    client = await clients.find(work, visit.client_id)
    if client is None or not is_front(client) or not visit.sid:
        return
    user = await users.find_by_id(work.db, visit.user_id) if in_browser else None
    at = work.now + BROWSER_COMES if user is not None and user.is_active else None
    notice = FrontNotice(visit.client_id, address_of(work, client, visit.sid))
    work.enqueue(WITHOUT_BROWSER, notice, at=at, key=_key(visit.client_id, visit.sid))


async def told_in_browser(work: Work, client_id: str, sid: str) -> None:
    await work.call_off(WITHOUT_BROWSER, _key(client_id, sid))


def _key(client_id: str, sid: str) -> str:
    return hashlib.sha256(f"{client_id} {sid}".encode()).hexdigest()


async def _load(work: Work, notice: FrontNotice) -> None:
    """What the client answers is for a browser, and is not followed."""
    try:
        answer = await work.find(Outgoing).request("GET", notice.url, max_bytes=MOST_BYTES, max_redirects=0)
    except OutgoingError as error:
        raise ClientNotTold(f"{notice.client_id} could not be told: {error}") from error
    if answer.status >= 400:
        _log.info("oauth.not_told_without_browser", client=notice.client_id, status=answer.status)


WITHOUT_BROWSER: JobKind[FrontNotice] = JobKind(
    name="identity.oauth_without_browser", payload=FrontNotice, handler=_load, outside=True, attempts=5, **MAKES_ROOM
)
