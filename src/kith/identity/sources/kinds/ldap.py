"""A directory that people and groups are copied from, and passwords are tried against."""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import UID, query
from kith.identity.flows.resources import bound_policies
from kith.identity.rest import RecordDraft, Resource, kind_table, link_table
from kith.identity.rest.fields import Boolean, Reference, References, Secret, Text
from kith.identity.sources.family import SOURCES, SourceRecord
from kith.identity.sources.private_keys import check_private_key
from kith.identity.sources.reach import remember_setter

_KEYPAIR = "identity_keypairs.kp_uuid"

ldap_mappings = link_table(
    "identity_sources_ldap_mappings", "identity_sources.pbm_uuid", "identity_property_mappings.pm_uuid", holds=True
)

FIELDS = (
    Text(name="server_uri", required=True, most=2000, help="ldap:// or ldaps://, several separated by commas."),
    Text(name="bind_cn", required=True),
    Secret(name="bind_password", required=True, sent_to=("server_uri", "start_tls", "sni", "peer_certificate")),
    Boolean(name="start_tls", default=False),
    Boolean(name="sni", default=False),
    Reference(name="peer_certificate", null=True, to=_KEYPAIR, on_delete="RESTRICT"),
    Reference(name="client_certificate", null=True, to=_KEYPAIR, on_delete="RESTRICT"),
    Text(name="base_dn", required=True),
    Text(name="additional_user_dn", default="", help="In front of base_dn when people are looked for."),
    Text(name="additional_group_dn", default="", help="In front of base_dn when groups are looked for."),
    Text(name="user_object_filter", default="(objectCategory=Person)"),
    Text(name="group_object_filter", default="(objectCategory=Group)"),
    Text(name="user_group_membership_field", default="memberOf", help="The person's attribute that names groups."),
    Text(name="group_membership_field", default="member", help="The group's attribute that names people."),
    Text(name="user_membership_attribute", default="distinguishedName", help="What a group names people by."),
    Boolean(name="lookup_groups_from_user", default=True, help="Ask the person for their groups, not the group."),
    Text(name="object_uniqueness_field", default="objectSid"),
    Boolean(name="sync_users", default=True),
    Boolean(name="sync_groups", default=True),
    Boolean(name="sync_users_password", default=False, help="Write changed passwords back; one source at most."),
    Boolean(name="password_login_update_internal_password", default=False),
    Boolean(name="delete_not_found_objects", default=False),
    Reference(name="sync_parent_group", null=True, to="identity_groups.group_uuid", on_delete="RESTRICT"),
    References(
        name="property_mappings",
        alias="user_property_mappings",
        to="identity_property_mappings.pm_uuid",
        link=ldap_mappings,
        where=(("kind", "ldap"),),
    ),
)


class LDAPSource(SourceRecord, kw_only=True):
    server_uri: str
    bind_cn: str
    start_tls: bool
    sni: bool
    peer_certificate: str | None
    client_certificate: str | None
    base_dn: str
    additional_user_dn: str
    additional_group_dn: str
    user_object_filter: str
    group_object_filter: str
    user_group_membership_field: str
    group_membership_field: str
    user_membership_attribute: str
    lookup_groups_from_user: bool
    object_uniqueness_field: str
    sync_users: bool
    sync_groups: bool
    sync_users_password: bool
    password_login_update_internal_password: bool
    delete_not_found_objects: bool
    sync_parent_group: str | None
    property_mappings: list[str] = msgspec.field(default_factory=list)


ldap_sources = kind_table("identity_sources_ldap", SOURCES, FIELDS)

_writes_back = query(
    select(ldap_sources.c.pbm_uuid)
    .where(ldap_sources.c.sync_users_password, ldap_sources.c.pbm_uuid != bindparam("me", type_=UID()))
    .limit(1),
    str,
)
_NOBODY = "00000000-0000-0000-0000-000000000000"


async def check(draft: RecordDraft[LDAPSource]) -> None:
    remember_setter(draft)
    if draft.sets("server_uri") and not all(is_server(part) for part in draft.now.server_uri.split(",")):
        draft.complain("server_uri", "Enter a valid URL.")
    for name in ("user_object_filter", "group_object_filter"):
        if draft.sets(name) and not is_filter(draft.values[name]):
            draft.complain(name, "Enter a valid LDAP filter, its parentheses balanced.")
    await check_private_key(draft, "client_certificate")
    db = draft.work.db
    await db.begin()
    writes_back = draft.sets("sync_users_password") and draft.now.sync_users_password
    if writes_back and await db.one(_writes_back, me=draft.id or _NOBODY) is not None:
        draft.complain("sync_users_password", "Only one LDAP source can write passwords back.")


async def copy_soon(draft: RecordDraft[LDAPSource]) -> None:
    """What was saved may change who is copied."""
    from kith.identity.sources.ldap.tasks import start  # noqa: PLC0415 - it knows this page

    if draft.now.enabled and (draft.now.sync_users or draft.now.sync_groups):
        start(draft.work, draft.id)


def is_server(text: str) -> bool:
    try:
        parts = urlsplit(text.strip())
        parts.port  # noqa: B018 - reading it is the check
    except ValueError:
        return False
    return parts.scheme in ("ldap", "ldaps") and bool(parts.hostname) and not any(c.isspace() for c in text.strip())


def is_filter(text: str) -> bool:
    """One filter in parentheses that close as they opened (those within values are written as escapes)."""
    depth = 0
    for place, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth <= 0 and place < len(text) - 1:
            return False
    return depth == 0 and text.endswith(")") and "()" not in text


RESOURCE = Resource(
    path="/sources/ldap/",
    name="LDAPSource",
    record=LDAPSource,
    key="pbm_uuid",
    family=SOURCES,
    kind="ldap",
    table=ldap_sources,
    fields=FIELDS,
    target=True,
    search=("name", "slug"),
    exact=("name", "slug", "enabled", "server_uri", "bind_cn", "base_dn", "sync_users", "sync_groups"),
    prepare=check,
    saved=copy_soon,
    decorate=bound_policies,
)
