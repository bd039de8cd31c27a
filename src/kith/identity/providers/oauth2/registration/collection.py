"""/providers/clients/: clients that registered themselves with providers. People see and end what they registered.

A client makes itself one, with a token of somebody who vouches for it, so nobody makes one here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select

from kith.base.db import any_of, query
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.providers.family import providers
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.clients import registrars
from kith.identity.providers.oauth2.logout import propagation
from kith.identity.providers.oauth2.tables import App, apps, grants, oauth_tokens
from kith.identity.rest import READ, Resource
from kith.identity.rest.fields import Computed, Integer, Moment, Reference, Text
from kith.identity.rest.record import Record
from kith.identity.users.tables import users

FIELDS = (
    Text(name="name", read_only=True, help="What it calls itself."),
    Text(name="client_id", read_only=True),
    Integer(name="provider", read_only=True, stored_as="provider_id"),
    Computed(name="provider_name", form={"type": "string"}),
    Reference(
        name="registered_by",
        to="identity_users.id",
        integer=True,
        null=True,
        read_only=True,
        help="Who registered it, or has taken it over since. They may be gone.",
    ),
    Computed(name="registered_by_name", form={"type": "string"}),
    Text(name="website", null=True, read_only=True),
    Text(name="redirect_uris", read_only=True, help="Each on a line of its own."),
    Text(name="scopes", read_only=True, help="What it may ask for at most, separated by blanks."),
    Text(name="auth_method", read_only=True, help="How it proves that it is itself."),
    Computed(
        name="suspended",
        form={"type": "boolean"},
        help="It lets nobody in and its tokens are refused: who registered it is gone, disabled, may not register "
        "clients any more, or was locked.",
    ),
    Moment(
        name="suspended_at",
        null=True,
        read_only=True,
        help="When who registered it was locked. It stays suspended until somebody takes it over.",
    ),
    Computed(
        name="last_used",
        form={"type": ["string", "null"], "format": "date-time"},
        help="When one of the tokens that it still has was last used or issued.",
    ),
)


class RegisteredClient(Record, kw_only=True):
    pk: str
    registration_uuid: str
    name: str
    client_id: str
    provider: int
    provider_name: str = ""
    registered_by: int | None
    registered_by_name: str = ""
    website: str | None
    redirect_uris: str
    scopes: str
    auth_method: str
    suspended: bool = False
    suspended_at: datetime | None
    last_used: str | None = None
    created: datetime


_providers = query(
    select(providers.c.id, providers.c.name, providers.c.kind).where(any_of(providers.c.id, "ids")), tuple
)
_people = query(select(users.c.id, users.c.username).where(any_of(users.c.id, "ids")), tuple)
_rows = query(select(apps).where(any_of(apps.c.registration_uuid, "ids")), App)
_last_used = query(
    select(apps.c.registration_uuid, func.max(func.coalesce(oauth_tokens.c.last_used_at, oauth_tokens.c.created_at)))
    .join(grants, grants.c.app_id == apps.c.id)
    .join(oauth_tokens, oauth_tokens.c.grant_uuid == grants.c.grant_uuid)
    .where(any_of(apps.c.registration_uuid, "ids"))
    .group_by(apps.c.registration_uuid),
    tuple,
)


async def decorate(work: Work, records: list[RegisteredClient]) -> None:
    known = {id: (name, kind) for id, name, kind in await work.db.all(_providers, ids=[r.provider for r in records])}
    ids = [record.registered_by for record in records if record.registered_by is not None]
    people: dict[int, str] = dict(await work.db.all(_people, ids=ids))
    used: dict[str, datetime] = dict(await work.db.all(_last_used, ids=[record.pk for record in records]))
    suspended = await _suspended(work, records, {id: kind for id, (_, kind) in known.items()})
    for record in records:
        record.provider_name = known[record.provider][0] if record.provider in known else ""
        record.registered_by_name = people.get(record.registered_by or 0, "")
        record.suspended = record.pk in suspended
        at = used.get(record.pk)
        if at is not None:
            record.last_used = at.isoformat(timespec="microseconds")[:-6] + "Z"


async def _suspended(work: Work, records: Sequence[RegisteredClient], kinds: dict[int, str]) -> set[str]:
    """Those that may do nothing now; of each registrar it is asked once."""
    asked: dict[tuple[int | None, int], bool] = {}
    found = set()
    for app in await work.db.all(_rows, ids=[record.pk for record in records]):
        who = (app.registered_by, app.provider_id or 0)
        if app.suspended_at is None and who not in asked:
            asked[who] = await registrars.is_suspended(work, app, kinds.get(who[1], ""))
        if app.suspended_at is not None or asked[who]:
            found.add(app.registration_uuid or "")
    return found


async def removing(work: Work, record: RegisteredClient, _caller: ApiCaller) -> None:
    """Everybody is signed out there, and what the client was given ends."""
    app = await store.find_app(work.db, record.client_id)
    if app is not None:
        await propagation.end_client(work, app.client_id, app.id)


RESOURCE = Resource(
    path="/providers/clients/",
    name="RegisteredClient",
    record=RegisteredClient,
    key="registration_uuid",
    table=apps,
    fields=FIELDS,
    only=apps.c.kind == "dynamic",
    search=("name", "client_id", "redirect_uris"),
    order=("-created",),
    exact=("provider", "registered_by", "client_id"),
    allow=READ | {"delete"},
    own="registered_by",
    removing=removing,
    decorate=decorate,
)
