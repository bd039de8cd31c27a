"""/sources/user_connections/ and /sources/group_connections/: what sources call our people and groups.

People see and end their own. Whoever could make one could sign in as anybody, so only superusers may.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import select

from kith.base.db import any_of, query
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.rest import READ, Family, RecordDraft, Resource
from kith.identity.rest.fields import Computed, Reference, Text
from kith.identity.rest.record import Record
from kith.identity.rest.resource import ALL
from kith.identity.sources import store
from kith.identity.sources.connections import check_unlink
from kith.identity.sources.family import sources
from kith.identity.sources.tables import MOST_IN_IDENTIFIER, group_connections, user_connections
from kith.identity.users import store as users

KINDS = {"ldap": "LDAP", "oauth": "OAuth", "saml": "SAML", "scim": "SCIM"}
_names = query(
    select(sources.c.pbm_uuid, sources.c.name, sources.c.slug, sources.c.kind).where(any_of(sources.c.pbm_uuid, "ids")),
    tuple,
)
_SHAPE = {"type": ["object", "null"], "additionalProperties": True}


class UserConnectionRecord(Record, kw_only=True):
    pk: str
    connection_uuid: str
    user: int
    source: str
    source_obj: dict[str, Any] | None = None
    identifier: str
    created: datetime
    last_updated: datetime


class GroupConnectionRecord(Record, kw_only=True):
    pk: str
    connection_uuid: str
    group: str
    source: str
    source_obj: dict[str, Any] | None = None
    identifier: str
    created: datetime
    last_updated: datetime


async def decorate(work: Work, records: list[Any]) -> None:
    rows = await work.db.all(_names, ids=[record.source for record in records])
    found = {pk: {"pk": pk, "name": name, "slug": slug, "component": kind} for pk, name, slug, kind in rows}
    for record in records:
        record.source_obj = found.get(record.source)


async def fill(draft: RecordDraft[Any]) -> None:
    """What only the sources themselves know of a connection."""
    draft.columns.setdefault("reference", None)
    draft.columns.setdefault("seen_in", None)
    draft.columns.setdefault("access_token", None)
    if draft.is_new:
        draft.columns["is_made_here"] = False


async def keep_a_way_in(work: Work, record: UserConnectionRecord, caller: ApiCaller) -> None:
    if caller.id != record.user or caller.permissions is None:
        return
    user = await users.get(work.db, record.user)
    mine = await store.linked(work.db, record.user)
    check_unlink(record.pk, mine, has_password=user.password is not None)


def _fields(kind: str, about: Reference) -> tuple[Any, ...]:
    where = (("kind", kind),) if kind else ()
    return (
        about,
        Reference(name="source", to="identity_sources.pbm_uuid", required=True, on_delete="CASCADE", where=where),
        Computed(name="source_obj", form=_SHAPE),
        Text(name="identifier", required=True, most=MOST_IN_IDENTIFIER, help="What the source calls them."),
    )


def _user_fields(kind: str) -> tuple[Any, ...]:
    return _fields(kind, Reference(name="user", to="identity_users.id", integer=True, required=True))


def _group_fields(kind: str) -> tuple[Any, ...]:
    return _fields(kind, Reference(name="group", to="identity_groups.group_uuid", required=True))


def _of_users(kind: str) -> Resource[UserConnectionRecord]:
    fields = _user_fields(kind)
    return Resource(
        path=f"/sources/user_connections/{kind or 'all'}/",
        name=f"User{KINDS.get(kind, '')}SourceConnection",
        record=UserConnectionRecord,
        key="connection_uuid",
        family=Family(table=user_connections, key="connection_uuid", fields=()),
        kind=kind,
        table=None,
        fields=fields,
        search=("identifier",),
        order=("created",),
        exact=("user", "source", "identifier"),
        label="identifier",
        own="user",
        prepare=fill,
        removing=keep_a_way_in,
        decorate=decorate,
        allow=ALL if kind else READ | {"delete"},
    )


def _of_groups(kind: str) -> Resource[GroupConnectionRecord]:
    fields = _group_fields(kind)
    return Resource(
        path=f"/sources/group_connections/{kind or 'all'}/",
        name=f"Group{KINDS.get(kind, '')}SourceConnection",
        record=GroupConnectionRecord,
        key="connection_uuid",
        family=Family(table=group_connections, key="connection_uuid", fields=()),
        kind=kind,
        table=None,
        fields=fields,
        search=("identifier",),
        order=("created",),
        exact=("group", "source", "identifier"),
        label="identifier",
        prepare=fill,
        decorate=decorate,
        allow=ALL if kind else READ | {"delete"},
    )


RESOURCES: tuple[Resource[Any], ...] = (
    *(_of_users(kind) for kind in ("", *KINDS)),
    *(_of_groups(kind) for kind in ("", *KINDS)),
)
