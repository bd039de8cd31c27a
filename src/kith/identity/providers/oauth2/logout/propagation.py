"""What ends at clients when a session, person, application or permission ends.

Those rooms announce it in the same transaction; a periodic job finds what was not announced. Every client where the
person was signed in is told, and its tokens end.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from sqlalchemy import and_, bindparam, or_, select, update

from kith.base.db import UID, Document, Instant, command, query
from kith.base.jobs import JobKind
from kith.base.jobs.tables import is_waiting
from kith.base.work import Work
from kith.identity.applications.service import ApplicationClosed
from kith.identity.caller import ApiCaller
from kith.identity.providers.client_fields import ClientRecord
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.claims import claims
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.scopes import split
from kith.identity.providers.oauth2.grants import service, visits
from kith.identity.providers.oauth2.logout import back_channel, front_channel
from kith.identity.providers.oauth2.tables import Grant, Visit, grants
from kith.identity.sessions import service as sessions
from kith.identity.sessions import store as session_store
from kith.identity.sessions.service import SessionEnded, SessionRenewed
from kith.identity.sessions.tables import sessions as session_rows
from kith.identity.tokens.facts import TokenEnded
from kith.identity.tokens.tables import tokens as token_rows
from kith.identity.users import store as users
from kith.identity.users.service import UserBarred, UserChanged, UserDeleted

AT_ONCE = 200

_detach = command(
    update(grants).where(grants.c.session_uuid == bindparam("session", type_=UID())).values(session_uuid=None)
)
_renew = command(
    update(grants)
    .where(grants.c.grant_uuid == bindparam("grant", type_=UID()))
    .values(session_uuid=bindparam("new", type_=UID()), claims=bindparam("told", type_=Document()))
)
_is_there = select(session_rows.c.session_uuid).where(session_rows.c.session_uuid == grants.c.session_uuid).exists()
_left = query(
    select(grants.c.session_uuid)
    .where(and_(grants.c.session_uuid.is_not(None), ~_is_there, ~is_waiting(visits.RENEWED_NAME)))
    .distinct()
    .limit(AT_ONCE),
    str,
)
_is_live = (
    select(token_rows.c.token_uuid)
    .where(token_rows.c.token_uuid == grants.c.token_uuid)
    .where(or_(token_rows.c.expires_at.is_(None), token_rows.c.expires_at > bindparam("now", type_=Instant())))
    .exists()
)
_exchanged = grants.alias()
_is_held = select(_exchanged.c.grant_uuid).where(_exchanged.c.grant_uuid == grants.c.token_uuid).exists()
_without_token = query(
    select(grants).where(and_(grants.c.token_uuid.is_not(None), ~_is_live, ~_is_held)).limit(AT_ONCE), Grant
)
_of_app = query(select(grants).where(grants.c.app_id == bindparam("app")), Grant)
_of_provider = query(select(grants).where(grants.c.provider_id == bindparam("provider")), Grant)


def lasts(grant: Grant) -> bool:
    """Whether the grant outlasts the session: apps of the social half, and `offline_access`."""
    return grant.provider_id is None or "offline_access" in split(grant.scopes)


async def tell_all(
    work: Work, found: Sequence[Visit], unnoted: Sequence[Visit] = (), *, in_browser: bool = False
) -> None:
    """Tell the clients of these visits; of several works at the same time one does.

    `in_browser`: one may be about to tell those that are told there.
    """
    for visit in (*await visits.take(work, found), *unnoted):
        await back_channel.tell(work, visit)
        await front_channel.tell_without_browser(work, visit, in_browser=in_browser)


# A session


async def session_ended(work: Work, session_uuid: str) -> None:
    """Tell the session's clients and end their tokens; grants that outlast it keep their refresh token.

    It can be called twice: nothing belongs to the session afterwards.
    """
    await work.db.hold(f"identity.oauth_session:{session_uuid}")
    found = await store.grants_of_session(work.db, session_uuid)
    seen = await visits.of_session(work, session_uuid)
    unnoted = await _unnoted(work, found, seen)
    lasting = {grant.client_id for grant in found if lasts(grant)}
    await tell_all(work, seen, unnoted, in_browser=True)
    for visit in (*seen, *unnoted):
        if visit.client_id in lasting:
            await visits.outlast(work, visit)
    for grant in found:
        await end_in_session(work, grant)
    if found:
        await work.db.run(_detach, session=session_uuid)


async def _unnoted(work: Work, found: list[Grant], seen: list[Visit]) -> list[Visit]:
    """Clients that signed people in before visits were stored."""
    noted = {visit.client_id for visit in seen}
    missed = {grant.client_id: grant for grant in found if grant.provider_id is not None}
    made = []
    for client_id, grant in missed.items():
        client = await clients.find(work, client_id) if client_id not in noted and grant.app_id is None else None
        user = await users.find_by_id(work.db, grant.user_id) if client is not None and grant.user_id else None
        if client is not None and user is not None:
            made.append(visits.visit_of(work, client, grant, user))
    return made


async def end_in_session(work: Work, grant: Grant) -> None:
    """End the access tokens of the session's grants; apps of the social half are not bound to a session."""
    if not lasts(grant):
        await service.end_grant(work, grant)
    elif grant.provider_id is not None:
        await service.end_access(work, grant)


async def _on_session_renewed(work: Work, fact: SessionRenewed) -> None:
    """Signing in again signs nobody out: visits and grants move to the new session, with the same `sid`."""
    await work.db.hold(f"identity.oauth_session:{fact.old}")
    for grant in await store.grants_of_session(work.db, fact.old):
        told = grant.claims | {"sid": claims.sid_of(grant)}
        await work.db.run(_renew, grant=grant.grant_uuid, new=fact.new, told=told)
    await visits.renew(work, fact.old, fact.new)


async def _on_session_ended(work: Work, fact: SessionEnded) -> None:
    await session_ended(work, fact.session_uuid)


# An app password


async def token_ended(work: Work, fact: TokenEnded) -> None:
    """End the grants that were given for this app password."""
    for grant in await store.grants_given_for(work.db, fact.token_uuid):
        await service.end_grant(work, grant)


# A person


async def _on_user_deleted(work: Work, fact: UserDeleted) -> None:
    """Tell the clients; the grants were deleted with the user."""
    await tell_all(work, await visits.of_user(work, fact.user_id))


async def _on_user_barred(work: Work, fact: UserBarred) -> None:
    """End the sessions they had at that moment, even if they have been let in again since."""
    for session in await session_store.of_user(work.db, fact.user_id, work.now):
        if session.created_at <= fact.at:
            await sessions.close(work, session)
    await end_entries_of(work, fact.user_id, until=fact.at)


async def barred_now(work: Work, fact: UserBarred) -> None:
    """End what there is together with disabling them. The job that follows finds what was under way meanwhile."""
    if fact.at != work.now:
        return
    for session in await session_store.of_user(work.db, fact.user_id, work.now):
        await sessions.close(work, session)
    await end_entries_of(work, fact.user_id)


async def end_entries_of(work: Work, user_id: int, *, until: datetime | None = None) -> None:
    """End what lets this person into applications. Their own apps keep their tokens, which are refused while the
    person is disabled: otherwise each phone has to be signed in again after a mistake that was taken back."""
    await end_all_of(work, user_id, until=until, but_apps=True)


async def end_all_of(
    work: Work, user_id: int, *, until: datetime | None = None, client_id: str | None = None, but_apps: bool = False
) -> None:
    """End all grants of this person that there are, or those of one client.

    `until` is for what is done later: then only those that are older. Whoever ends something now ends what is there,
    whatever it says of when it began: requests take their time, and clocks are set back.
    """

    def is_meant(one: Grant | Visit) -> bool:
        return (until is None or one.created_at <= until) and client_id in (None, one.client_id)

    found = [
        grant
        for grant in await store.grants_of_user(work.db, user_id)
        if is_meant(grant) and not (but_apps and grant.provider_id is None)
    ]
    seen = [visit for visit in await visits.of_user(work, user_id) if is_meant(visit)]
    await tell_all(work, seen, await _unnoted(work, found, seen))
    for grant in found:
        await service.end_grant(work, grant)


async def _on_user_changed(work: Work, fact: UserChanged) -> None:
    """A new password ends the grants from before; a person who was disabled loses those of applications."""
    user = await users.find_by_id(work.db, fact.user_id)
    if user is None:
        return
    if not user.is_active:
        for grant in await store.grants_of_user(work.db, user.id):
            if grant.provider_id is not None:
                await service.end_grant(work, grant)
    if user.password_changed_at is not None:
        await _end_from_before(work, user.id, user.password_changed_at)


async def password_changed(work: Work, fact: UserChanged) -> None:
    """End what a new password ends together with setting it, before the job comes round that finds the rest.

    The sessions have ended in this transaction. What there is now is from before, also where it was granted while the
    new password was being checked and hashed: a request's moment is when it began.
    """
    user = await users.find_by_id(work.db, fact.user_id)
    if user is not None and user.password_changed_at == work.now:
        await _end_from_before(work, user.id, None)


async def _end_from_before(work: Work, user_id: int, changed_at: datetime | None) -> None:
    """End what may have been granted by whoever knew the old password; with `changed_at`, what is older than that.

    The session in which the new one was set lasts, and its grants with it. What an app password is good for ends with
    the app password.
    """

    async def is_left(session_uuid: str | None) -> bool:
        return session_uuid is None or not await session_store.is_there(work.db, session_uuid)

    def is_old(one: Grant | Visit) -> bool:
        return changed_at is None or one.created_at < changed_at

    async def is_over(grant: Grant) -> bool:
        if grant.provider_id is None:
            return True
        return grant.token_uuid is None and await is_left(grant.session_uuid)

    found = [grant for grant in await store.grants_of_user(work.db, user_id) if is_old(grant) and await is_over(grant)]
    clients_left = {grant.client_id for grant in found}
    seen = [
        visit
        for visit in await visits.of_user(work, user_id)
        if visit.client_id in clients_left and is_old(visit) and await is_left(visit.session_uuid)
    ]
    await tell_all(work, seen, await _unnoted(work, found, seen))
    for grant in found:
        await service.end_grant(work, grant)


# An application, and what lets into it


async def _on_application_closed(work: Work, fact: ApplicationClosed) -> None:
    """End the grants of a provider that has lost its application."""
    await tell_all(work, await visits.of_provider(work, fact.provider_id))
    for grant in await work.db.all(_of_provider, provider=fact.provider_id):
        await service.end_grant(work, grant)


async def end_client(work: Work, client_id: str, app_id: int) -> None:
    """End everything of a client that registered itself, before it is deleted; it is told while it is still known."""
    await tell_all(work, await visits.of_client(work, client_id))
    for grant in await work.db.all(_of_app, app=app_id):
        await service.end_grant(work, grant)


async def provider_removed(work: Work, record: ClientRecord, _caller: ApiCaller) -> None:
    """Tell the clients before the provider, and with it the data for telling them, is deleted."""
    await tell_all(work, await visits.of_provider(work, record.pk))


# What nobody announced


class SessionSweep(msgspec.Struct):
    """The job for sessions and app passwords whose end nobody announced: expired, or deleted together."""


async def _look(work: Work, _payload: SessionSweep) -> None:
    for grant in await work.db.all(_without_token, now=work.now):
        await service.end_grant(work, grant)
    for session_uuid in await work.db.all(_left):
        await session_ended(work, session_uuid)
    for visit in await visits.left(work):
        if visit.session_uuid is not None:
            await session_ended(work, visit.session_uuid)
        else:
            await tell_all(work, [visit])


SESSION_ENDED: JobKind[SessionEnded] = JobKind(
    name="identity.oauth_session_ended", payload=SessionEnded, handler=_on_session_ended
)
SESSION_RENEWED: JobKind[SessionRenewed] = JobKind(
    name=visits.RENEWED_NAME, payload=SessionRenewed, handler=_on_session_renewed
)
USER_CHANGED: JobKind[UserChanged] = JobKind(
    name="identity.oauth_user_changed", payload=UserChanged, handler=_on_user_changed
)
USER_BARRED: JobKind[UserBarred] = JobKind(
    name="identity.oauth_user_barred", payload=UserBarred, handler=_on_user_barred
)
USER_DELETED: JobKind[UserDeleted] = JobKind(
    name="identity.oauth_user_deleted", payload=UserDeleted, handler=_on_user_deleted
)
APPLICATION_CLOSED: JobKind[ApplicationClosed] = JobKind(
    name="identity.oauth_application_closed", payload=ApplicationClosed, handler=_on_application_closed
)
LOOK: JobKind[SessionSweep] = JobKind(name="identity.oauth_sessions", payload=SessionSweep, handler=_look)
