"""Telling a service directly, without a browser: a LogoutRequest is sent to it.

Services that are told in the browser are told directly where no browser comes: when a session has ended by itself or
by somebody else. Many know the session by its index and end it; one that needs its cookie cannot be told.
"""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlencode

import structlog

from kith.base.http import Outgoing, OutgoingError
from kith.base.jobs import MAKES_ROOM, JobKind
from kith.base.work import Work
from kith.identity.providers.saml import service_provider, store
from kith.identity.providers.saml.logout.notices import SAMLLogoutNotice, notice_for, write_notice
from kith.identity.providers.saml.outcomes import PostToService
from kith.identity.providers.saml.service_provider import ServiceProvider
from kith.identity.providers.saml.tables import SAMLSession
from kith.identity.users import store as users

ATTEMPTS = 12
MOST_BYTES = 256 * 1024
BROWSER_COMES = timedelta(seconds=30)
_log = structlog.get_logger()


class ServiceNotTold(Exception):  # noqa: N818 - an answer
    """The service could not be reached or failed; the job is tried again, with growing pauses."""


def listens(service: ServiceProvider | None) -> bool:
    return service is not None and service.record.logout_method == "backchannel" and bool(service.record.sls_url)


async def tell(work: Work, session: SAMLSession, *, in_browser: bool = False) -> None:
    """Enqueue the notice for a session, if the service wants one.

    `in_browser`: one may be about to tell it. No browser signs out whoever was disabled.
    """
    service = await service_provider.find(work, session.provider_id)
    if service is None or not service.record.sls_url:
        return
    notice = notice_for(service, session)
    if listens(service):
        work.enqueue(BACK_CHANNEL, notice)
    else:
        user = await users.find_by_id(work.db, session.user_id) if in_browser else None
        at = work.now + BROWSER_COMES if user is not None and user.is_active else None
        work.enqueue(WITHOUT_BROWSER, notice, at=at, key=session.saml_session_uuid)


async def told_in_browser(work: Work, saml_session_uuid: str) -> None:
    """A browser has the notice now."""
    await store.forget(work.db, saml_session_uuid)
    await work.call_off(WITHOUT_BROWSER, saml_session_uuid)


async def _send_without_browser(work: Work, notice: SAMLLogoutNotice) -> None:
    """As the browser would bring it. What the service answers is for a browser, and is not followed."""
    message = await write_notice(work, notice)
    is_form = isinstance(message, PostToService)
    body = urlencode(message.fields).encode() if isinstance(message, PostToService) else None
    headers = {"Content-Type": "application/x-www-form-urlencoded"} if is_form else {}
    try:
        answer = await work.find(Outgoing).request(
            "POST" if is_form else "GET",
            message.url,
            headers=headers,
            body=body,
            max_bytes=MOST_BYTES,
            max_redirects=0,
        )
    except OutgoingError as error:
        raise ServiceNotTold(f"provider {notice.provider_id} could not be told: {error}") from error
    if answer.status >= 400:
        _log.info("saml.not_told_without_browser", provider=notice.provider_id, status=answer.status)


async def _send(work: Work, notice: SAMLLogoutNotice) -> None:
    message = await write_notice(work, notice)
    if not isinstance(message, PostToService):
        return
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Cache-Control": "no-store"}
    try:
        answer = await work.find(Outgoing).request(
            "POST",
            message.url,
            headers=headers,
            body=urlencode(message.fields).encode(),
            max_bytes=MOST_BYTES,
            max_redirects=0,
        )
    except OutgoingError as error:
        raise ServiceNotTold(f"provider {notice.provider_id} could not be told: {error}") from error
    if answer.status >= 400:
        raise ServiceNotTold(f"provider {notice.provider_id} answered {answer.status}")


BACK_CHANNEL: JobKind[SAMLLogoutNotice] = JobKind(
    name="identity.saml_back_channel",
    payload=SAMLLogoutNotice,
    handler=_send,
    outside=True,
    attempts=ATTEMPTS,
    **MAKES_ROOM,
)
WITHOUT_BROWSER: JobKind[SAMLLogoutNotice] = JobKind(
    name="identity.saml_without_browser",
    payload=SAMLLogoutNotice,
    handler=_send_without_browser,
    outside=True,
    attempts=5,
    **MAKES_ROOM,
)
