"""The clients that hold tokens of a person, and revoking them."""

from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import and_, bindparam, func, select

from kith.base.db import query
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.consents import store as consents
from kith.identity.consents.service import ConsentWithdrawn
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.access.checks import model_of
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.clients.scopes import split
from kith.identity.providers.oauth2.consent.scope_texts import permissions
from kith.identity.providers.oauth2.logout import propagation
from kith.identity.providers.oauth2.tables import Grant, grants, oauth_tokens
from kith.identity.users.tables import User

_last_used = query(
    select(grants.c.client_id, func.max(oauth_tokens.c.last_used_at))
    .join(oauth_tokens, oauth_tokens.c.grant_uuid == grants.c.grant_uuid)
    .where(and_(grants.c.user_id == bindparam("user")))
    .group_by(grants.c.client_id),
    tuple,
)


INITIATE = "/application/o/initiate/?client_id="


class Granted(msgspec.Struct, frozen=True):
    """A client that holds tokens. `key` names it in addresses: an app's id, or `p` and a provider's id."""

    key: str
    name: str
    website: str | None
    permissions: list[str]
    since: datetime
    last_used_at: datetime | None
    opens: str | None = None  # where a sign-in there begins


async def list_granted(work: Work, user: User) -> list[Granted]:
    """Oldest first. Grants without any token are not listed."""
    used: dict[str, datetime | None] = dict(await work.db.all(_last_used, user=user.id))
    by_client: dict[str, list[Grant]] = {}
    for grant in await store.grants_of_user(work.db, user.id):
        if grant.client_id in used:
            by_client.setdefault(grant.client_id, []).append(grant)
    found = []
    for client_id, theirs in by_client.items():
        client = await clients.find(work, client_id)
        if client is not None:
            scopes = list(dict.fromkeys(scope for grant in theirs for scope in split(grant.scopes)))
            words = [one["name"] for one in await permissions(work, client, scopes)]
            found.append(
                Granted(
                    _key_of(theirs[0]),
                    client.name,
                    client.website,
                    words,
                    theirs[0].created_at,
                    used[client_id],
                    INITIATE + client_id if client.registered.initiate_login_uri and not client.is_suspended else None,
                )
            )
    return found


def _key_of(grant: Grant) -> str:
    return str(grant.app_id) if grant.app_id is not None else f"p{grant.provider_id}"


async def take_back(work: Work, user: User, key: str) -> bool:
    """End all grants that this person gave to a client, and forget the consent. False if there were none."""
    theirs = [grant for grant in await store.grants_of_user(work.db, user.id) if _key_of(grant) == key]
    if not theirs:
        return False
    client = await clients.find(work, theirs[0].client_id)
    for client_id in dict.fromkeys(grant.client_id for grant in theirs):
        await propagation.end_all_of(work, user.id, client_id=client_id)
    if client is not None:
        await _forget(work, user, client)
    context = {
        "authorized_application": model_of(client) if client else theirs[0].client_id,
        "client": theirs[0].client_id,
        "kind": "all",
    }
    await audit.record(
        work, "revoke_token", "providers.oauth2", user_id=user.id, username=user.username, context=context
    )
    return True


async def _forget(work: Work, user: User, client: Client) -> None:
    if client.application is None:
        return
    given = await consents.find(work.db, user.id, client.application.pbm_uuid, work.now, app_id=client.app_id)
    if given is not None:
        await consents.withdraw(work.db, user.id, given.consent_uuid)


async def consent_withdrawn(work: Work, fact: ConsentWithdrawn) -> None:
    """End what this person's consent let the application have, or a client that registered itself there.

    It is done with the withdrawal itself: nothing of it is good for a moment longer.
    """
    for grant in await store.grants_of_user(work.db, fact.user_id):
        if grant.provider_id is None or grant.app_id != fact.app_id:
            continue
        client = await clients.find(work, grant.client_id)
        if client is not None and client.application is not None and client.application.pbm_uuid == fact.application:
            await propagation.end_all_of(work, fact.user_id, client_id=grant.client_id)


CONSENT_WITHDRAWN: JobKind[ConsentWithdrawn] = JobKind(
    name="identity.oauth_consent_withdrawn", payload=ConsentWithdrawn, handler=consent_withdrawn
)
