"""What ends at services when a session, person, application or permission ends.

Those rooms announce it in the same transaction; a periodic job finds what was not announced.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.identity.applications.service import ApplicationClosed
from kith.identity.audit import service as audit
from kith.identity.caller import ApiCaller
from kith.identity.memberships.facts import MembershipEnded
from kith.identity.providers.kinds.saml import SAMLProvider
from kith.identity.providers.saml import service_provider, store
from kith.identity.providers.saml.access import may_still_enter, model_of
from kith.identity.providers.saml.logout import back_channel
from kith.identity.providers.saml.service_provider import ServiceProvider
from kith.identity.providers.saml.tables import SAMLSession
from kith.identity.rest.facts import AccessChanged
from kith.identity.sessions.service import SessionEnded, SessionRenewed
from kith.identity.users.service import UserBarred, UserChanged, UserDeleted

FIRST = "00000000-0000-0000-0000-000000000000"


async def tell_all(work: Work, found: Sequence[SAMLSession], *, in_browser: bool = False) -> None:
    """Tell the services of these sessions; of several works at the same time one does."""
    for session in await store.take(work.db, found):
        await back_channel.tell(work, session, in_browser=in_browser)


async def _on_session_ended(work: Work, fact: SessionEnded) -> None:
    await tell_all(work, await store.of_session(work.db, fact.session_uuid), in_browser=True)


async def _on_session_renewed(work: Work, fact: SessionRenewed) -> None:
    """Signing in again signs nobody out: what belongs to the old session moves to the new one."""
    await store.renew(work.db, fact.old, fact.new)


async def _on_user_deleted(work: Work, fact: UserDeleted) -> None:
    await tell_all(work, await store.of_user(work.db, fact.user_id))


async def _on_user_barred(work: Work, fact: UserBarred) -> None:
    """Everything they had at that moment ends, even if they have been let in again since."""
    found = await store.of_user(work.db, fact.user_id)
    await tell_all(work, [session for session in found if session.created_at <= fact.at])


async def _on_membership_ended(work: Work, fact: MembershipEnded) -> None:
    """Services were told of the person's groups: they are signed out there, so that these ask again."""
    await tell_all(work, await store.of_user(work.db, fact.user_id))


async def _on_application_closed(work: Work, fact: ApplicationClosed) -> None:
    await tell_all(work, await store.of_provider(work.db, fact.provider_id))


async def provider_removed(work: Work, record: SAMLProvider, _caller: ApiCaller) -> None:
    """Tell the service before the provider, and with it the data for telling it, is deleted."""
    await tell_all(work, await store.of_provider(work.db, record.pk))


# Policies that say something else than before


class SAMLRecheck(msgspec.Struct):
    """The job for one person, or for everybody, page by page."""

    user_id: int | None = None
    after: str = FIRST


async def _on_access_changed(work: Work, _fact: AccessChanged) -> None:
    work.enqueue(RECHECK, SAMLRecheck(), key="all")


async def _on_user_changed(work: Work, fact: UserChanged) -> None:
    if await store.of_user(work.db, fact.user_id):
        work.enqueue(RECHECK, SAMLRecheck(user_id=fact.user_id), key=f"user {fact.user_id}")


async def _recheck(work: Work, asked: SAMLRecheck) -> None:
    """All policies are evaluated before the first write."""
    db = work.db
    found = await (store.page(db, asked.after) if asked.user_id is None else store.of_user(db, asked.user_id))
    lost: list[tuple[ServiceProvider, SAMLSession]] = []
    for session in found:
        service = await service_provider.find(work, session.provider_id)
        if service is not None and not await may_still_enter(work, service, session.user_id, session.client_ip):
            lost.append((service, session))
    for service, session in lost:
        await tell_all(work, [session])
        context = {
            "authorized_application": model_of(service),
            "message": "The application's policies do not let them in any more.",
        }
        await audit.record(work, "logout", "providers.saml", user_id=session.user_id, context=context)
    if asked.user_id is None and len(found) == store.AT_ONCE:
        work.enqueue(RECHECK, SAMLRecheck(after=found[-1].saml_session_uuid))


# What nobody announced


class SAMLSessionSweep(msgspec.Struct):
    """The job for sessions whose end nobody announced: expired, or deleted together."""


async def _look(work: Work, _payload: SAMLSessionSweep) -> None:
    await tell_all(work, await store.left(work.db))


SESSION_ENDED: JobKind[SessionEnded] = JobKind(
    name="identity.saml_session_ended", payload=SessionEnded, handler=_on_session_ended
)
SESSION_RENEWED: JobKind[SessionRenewed] = JobKind(
    name=store.RENEWED_NAME, payload=SessionRenewed, handler=_on_session_renewed
)
USER_BARRED: JobKind[UserBarred] = JobKind(
    name="identity.saml_user_barred", payload=UserBarred, handler=_on_user_barred
)
USER_DELETED: JobKind[UserDeleted] = JobKind(
    name="identity.saml_user_deleted", payload=UserDeleted, handler=_on_user_deleted
)
USER_CHANGED: JobKind[UserChanged] = JobKind(
    name="identity.saml_user_changed", payload=UserChanged, handler=_on_user_changed
)
GROUP_LEFT: JobKind[MembershipEnded] = JobKind(
    name="identity.saml_membership_ended", payload=MembershipEnded, handler=_on_membership_ended
)
APPLICATION_CLOSED: JobKind[ApplicationClosed] = JobKind(
    name="identity.saml_application_closed", payload=ApplicationClosed, handler=_on_application_closed
)
ACCESS_CHANGED: JobKind[AccessChanged] = JobKind(
    name="identity.saml_access_changed", payload=AccessChanged, handler=_on_access_changed
)
RECHECK: JobKind[SAMLRecheck] = JobKind(
    name="identity.saml_recheck", payload=SAMLRecheck, handler=_recheck, outside=True
)
LOOK: JobKind[SAMLSessionSweep] = JobKind(name="identity.saml_sessions", payload=SAMLSessionSweep, handler=_look)
