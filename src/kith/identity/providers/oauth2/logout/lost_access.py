"""Evaluating policies again when something they depend on has changed; who lost access is signed out there.

Access tokens end and the client is told. The refresh token stays, as every use of it evaluates the policies again.
"""

from __future__ import annotations

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.memberships.facts import MembershipEnded
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.access import policies as access
from kith.identity.providers.oauth2.access.checks import AccessRequest, context_of, model_of
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.clients.scopes import split
from kith.identity.providers.oauth2.grants import service, visits
from kith.identity.providers.oauth2.logout import propagation
from kith.identity.providers.oauth2.tables import Grant, Visit
from kith.identity.rest.facts import AccessChanged
from kith.identity.users.service import UserChanged

NOT_LET_IN = "The application's policies do not let them in any more."
MEMBERSHIP_ENDED = "Their membership of a group has ended."
SILENT = frozenset({"openid", "offline_access", "email"})  # scopes that say nothing of groups
FIRST = "00000000-0000-0000-0000-000000000000"


class Recheck(msgspec.Struct):
    """The job for one person, or for everybody, page by page."""

    user_id: int | None = None
    after: str = FIRST


async def _on_access_changed(work: Work, _fact: AccessChanged) -> None:
    work.enqueue(RECHECK, Recheck(), key="all")


async def _on_user_changed(work: Work, fact: UserChanged) -> None:
    if await visits.of_user(work, fact.user_id):
        work.enqueue(RECHECK, Recheck(user_id=fact.user_id), key=f"user {fact.user_id}")


async def recheck(work: Work, asked: Recheck) -> None:
    """All policies are evaluated before the first write."""
    found = await (visits.page(work, asked.after) if asked.user_id is None else visits.of_user(work, asked.user_id))
    by_place: dict[tuple[int, str], list[Visit]] = {}
    for visit in found:
        by_place.setdefault((visit.user_id, visit.client_id), []).append(visit)
    lost: list[tuple[Client, list[Visit], list[Grant]]] = []
    for (user_id, client_id), theirs in by_place.items():
        client = await clients.find(work, client_id)
        given = [one for one in await store.grants_of_user(work.db, user_id) if one.client_id == client_id]
        if client is not None and not await _may_enter(work, client, theirs[0], given):
            lost.append((client, theirs, given))
    for client, theirs, given in lost:
        await _sign_out(work, client, theirs, given)
    if asked.user_id is None and len(found) == visits.AT_ONCE:
        work.enqueue(RECHECK, Recheck(after=found[-1].visit_uuid))


async def _may_enter(work: Work, client: Client, visit: Visit, given: list[Grant]) -> bool:
    scopes = list(dict.fromkeys(scope for grant in given for scope in split(grant.scopes)))
    context = context_of(client, AccessRequest(scopes=scopes, grant_type="authorization_code"))
    verdict, _ = await access.ask(work, client, visit.user_id, context, address=visit.client_ip)
    return verdict.passing


async def _on_membership_ended(work: Work, fact: MembershipEnded) -> None:
    """Sign the person out at clients that were told of their groups, so that these ask again."""
    for visit in await visits.of_user(work, fact.user_id):
        client = await clients.find(work, visit.client_id)
        given = [one for one in await store.grants_of_user(work.db, fact.user_id) if one.client_id == visit.client_id]
        if client is not None and not all(SILENT.issuperset(split(grant.scopes)) for grant in given):
            await _sign_out(work, client, [visit], given, MEMBERSHIP_ENDED)


async def _sign_out(
    work: Work, client: Client, theirs: list[Visit], given: list[Grant], message: str = NOT_LET_IN
) -> None:
    await propagation.tell_all(work, theirs)
    for grant in given:
        await service.end_access(work, grant)
    context = {
        "authorized_application": model_of(client),
        "client": client.client_id,
        "kind": "access",
        "message": message,
    }
    await audit.record(work, "revoke_token", "providers.oauth2", user_id=theirs[0].user_id, context=context)


ACCESS_CHANGED: JobKind[AccessChanged] = JobKind(
    name="identity.oauth_access_changed", payload=AccessChanged, handler=_on_access_changed
)
PERSON_CHANGED: JobKind[UserChanged] = JobKind(
    name="identity.oauth_person_changed", payload=UserChanged, handler=_on_user_changed
)
GROUP_LEFT: JobKind[MembershipEnded] = JobKind(
    name="identity.oauth_membership_ended", payload=MembershipEnded, handler=_on_membership_ended
)
RECHECK: JobKind[Recheck] = JobKind(name="identity.oauth_recheck", payload=Recheck, handler=recheck, outside=True)
