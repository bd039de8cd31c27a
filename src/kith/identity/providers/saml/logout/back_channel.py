"""Telling a service directly, without a browser: a LogoutRequest is posted to it."""

from __future__ import annotations

from urllib.parse import urlencode

from kith.base.http import Outgoing, OutgoingError
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.identity.providers.saml import service_provider
from kith.identity.providers.saml.logout.notices import SAMLLogoutNotice, notice_for, write_notice
from kith.identity.providers.saml.outcomes import PostToService
from kith.identity.providers.saml.service_provider import ServiceProvider
from kith.identity.providers.saml.tables import SAMLSession

ATTEMPTS = 12


class ServiceNotTold(Exception):  # noqa: N818 - an answer
    """The service could not be reached or failed; the job is tried again, with growing pauses."""


def listens(service: ServiceProvider | None) -> bool:
    return service is not None and service.record.logout_method == "backchannel" and bool(service.record.sls_url)


async def tell(work: Work, session: SAMLSession) -> None:
    """Enqueue the notice for a session, if the service wants one."""
    service = await service_provider.find(work, session.provider_id)
    if service is not None and listens(service):
        work.enqueue(BACK_CHANNEL, notice_for(service, session))


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
            max_bytes=256 * 1024,
            max_redirects=0,
        )
    except OutgoingError as error:
        raise ServiceNotTold(f"provider {notice.provider_id} could not be told: {error}") from error
    if answer.status >= 400:
        raise ServiceNotTold(f"provider {notice.provider_id} answered {answer.status}")


BACK_CHANNEL: JobKind[SAMLLogoutNotice] = JobKind(
    name="identity.saml_back_channel", payload=SAMLLogoutNotice, handler=_send, outside=True, attempts=ATTEMPTS
)
