"""Back-channel logout: telling a client that somebody has signed out (OpenID Connect Back-Channel Logout 1.0).

The job holds everything it needs, because person, session and provider may be gone when it runs.
"""

from __future__ import annotations

import uuid
from urllib.parse import urlencode

import msgspec

from kith.base.http import Outgoing, OutgoingError
from kith.base.jobs import MAKES_ROOM, Give, JobKind
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.keys import signing as keys
from kith.identity.providers.oauth2.keys.server_keys import DEFAULT
from kith.identity.providers.oauth2.tables import Visit

EVENT = "http://schemas.openid.net/event/backchannel-logout"
TOKEN_SECONDS = 120
ATTEMPTS = 12
PLACE = "jobs.oauth_back_channel"


class NotTold(Exception):  # noqa: N818 - an answer
    """The client could not be reached or failed; the job is tried again, with growing pauses."""


class LogoutNotice(msgspec.Struct):
    """The job's payload. `secret` is sealed, and set only if the client's secret signs."""

    client_id: str
    sub: str
    sid: str
    uri: str = ""
    issuer: str = ""
    alg: str = DEFAULT
    signing_key: str | None = None
    signed_with: str = ""
    secret: str = ""


def listens(client: Client | None) -> bool:
    return client is not None and bool(client.back_channel)


async def tell(work: Work, visit: Visit) -> None:
    """Enqueue the notice for a visit, if the client wants one."""
    client = await clients.find(work, visit.client_id)
    if client is None or not listens(client):
        return
    secret = work.find(Sealer).seal(client.secret, PLACE) if keys.secret_signs(client) and client.secret else ""
    told = LogoutNotice(
        client_id=client.client_id,
        sub=visit.sub,
        sid=visit.sid,
        uri=client.back_channel,
        issuer=visit.issuer,
        alg=client.alg,
        signing_key=client.signing_key,
        signed_with=client.signed_with,
        secret=secret,
    )
    work.enqueue(BACK_CHANNEL, told)


async def _send(work: Work, told: LogoutNotice) -> None:
    """Sent as the client is set up now, or as it was if it is gone."""
    client = await clients.find(work, told.client_id)
    if client is not None and not listens(client):
        return
    if client is None and not told.uri:
        return
    client = client or _as_it_was(work, told)
    token = await _token(work, client, told)
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Cache-Control": "no-store"}
    try:
        answer = await work.find(Outgoing).request(
            "POST",
            client.back_channel,
            headers=headers,
            body=urlencode({"logout_token": token}).encode(),
            max_bytes=64 * 1024,
            max_redirects=0,
        )
    except OutgoingError as error:
        raise NotTold(f"{client.client_id} could not be told: {error}") from error
    if answer.status == 400:  # it has read the token, and says that it cannot do it
        raise Give.up(f"{client.client_id} refused the logout token")
    if answer.status >= 300:
        raise NotTold(f"{client.client_id} answered {answer.status}")


def _as_it_was(work: Work, told: LogoutNotice) -> Client:
    secret = work.find(Sealer).open(told.secret, PLACE) if told.secret else None
    return Client(
        client_id=told.client_id,
        name="",
        is_public=secret is None,
        secret=secret,
        alg=told.alg,
        signing_key=told.signing_key,
        signed_with=told.signed_with,
        logout_uri=told.uri,
    )


async def _token(work: Work, client: Client, told: LogoutNotice) -> str:
    now = int(work.now.timestamp())
    claims = {
        "iss": told.issuer or client.issuer(work.settings.base_url),
        "aud": client.client_id,
        "iat": now,
        "exp": now + TOKEN_SECONDS,
        "jti": str(uuid.uuid4()),
        "events": {EVENT: {}},
        "sub": told.sub,
    }
    if told.sid:  # without one, all that the client has of this person is meant
        claims["sid"] = told.sid
    return await keys.sign(work, client, claims, typ="logout+jwt")


BACK_CHANNEL: JobKind[LogoutNotice] = JobKind(
    name="identity.oauth_back_channel",
    payload=LogoutNotice,
    handler=_send,
    outside=True,
    attempts=ATTEMPTS,
    **MAKES_ROOM,
)
