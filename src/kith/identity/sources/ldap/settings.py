"""A directory with what it takes to ask it."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import UID, query
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.crypto import keypairs
from kith.identity.mappings.family import mappings
from kith.identity.mappings.kinds import ldap as ldap_mapping
from kith.identity.sources import store
from kith.identity.sources.kinds.ldap import ldap_mappings, ldap_sources
from kith.identity.sources.reach import SourceReach, reach_of
from kith.identity.sources.store import Source

PASSWORD_PLACE = "identity_sources_ldap.bind_password"  # noqa: S105 - where one is kept


class FieldMapping(msgspec.Struct, frozen=True):
    name: str
    expression: str
    object_field: str


class DirectorySettings(msgspec.Struct, frozen=True, kw_only=True):
    """`private_hosts` are those that the operator has opened. Certificates are in PEM."""

    servers: tuple[str, ...]
    bind_cn: str
    bind_password: str
    start_tls: bool
    sni: bool
    ca: str
    client_certificate: str
    client_key: str
    user_base: str
    group_base: str
    user_filter: str
    group_filter: str
    memberships: str
    members: str
    member_name: str
    from_user: bool
    unique: str
    sync_users: bool
    sync_groups: bool
    writes_back: bool
    keeps_passwords: bool
    deletes: bool
    parent_group: str | None
    private_hosts: tuple[str, ...]

    @property
    def is_active_directory(self) -> bool:
        return self.unique.lower() in ("objectsid", "objectguid")


class DirectorySource(msgspec.Struct, frozen=True):
    source: Source
    settings: DirectorySettings
    mappings: tuple[FieldMapping, ...]
    reach: SourceReach


_names = tuple(column.name for column in ldap_sources.columns if column.name != "pbm_uuid")
_row = query(
    select(*(ldap_sources.c[name] for name in _names)).where(
        ldap_sources.c.pbm_uuid == bindparam("source", type_=UID())
    ),
    tuple,
)
_kind = ldap_mapping.RESOURCE.tables[1]
_mappings = query(
    select(mappings.c.name, mappings.c.expression, _kind.c.object_field)
    .join(_kind, _kind.c.pm_uuid == mappings.c.pm_uuid)
    .join(ldap_mappings, ldap_mappings.c.other == mappings.c.pm_uuid)
    .where(ldap_mappings.c.owner == bindparam("source", type_=UID()))
    .order_by(mappings.c.name, mappings.c.pm_uuid),
    FieldMapping,
)


async def find_directory(work: Work, pbm_uuid: str) -> DirectorySource | None:
    row = await work.db.one(_row, source=pbm_uuid)
    source = await store.find_source_by_id(work.db, pbm_uuid)
    if row is None or source is None:
        return None
    given: dict[str, Any] = dict(zip(_names, row, strict=True))
    found = await work.db.all(_mappings, source=pbm_uuid)
    return DirectorySource(source, await _settings(work, given), tuple(found), await reach_of(work, source))


async def _settings(work: Work, given: dict[str, Any]) -> DirectorySettings:
    peer = await keypairs.find(work, given["peer_certificate"]) if given["peer_certificate"] else None
    own = await keypairs.find(work, given["client_certificate"]) if given["client_certificate"] else None
    return DirectorySettings(
        servers=tuple(one.strip() for one in given["server_uri"].split(",") if one.strip()),
        bind_cn=given["bind_cn"],
        bind_password=work.find(Sealer).open(given["bind_password"], PASSWORD_PLACE) if given["bind_password"] else "",
        start_tls=given["start_tls"],
        sni=given["sni"],
        ca=peer.certificate_data if peer is not None else "",
        client_certificate=own.certificate_data if own is not None else "",
        client_key=keypairs.open_key(work, own.key_data) if own is not None and own.key_data else "",
        user_base=_below(given["additional_user_dn"], given["base_dn"]),
        group_base=_below(given["additional_group_dn"], given["base_dn"]),
        user_filter=given["user_object_filter"],
        group_filter=given["group_object_filter"],
        memberships=given["user_group_membership_field"],
        members=given["group_membership_field"],
        member_name=given["user_membership_attribute"],
        from_user=given["lookup_groups_from_user"],
        unique=given["object_uniqueness_field"],
        sync_users=given["sync_users"],
        sync_groups=given["sync_groups"],
        writes_back=given["sync_users_password"],
        keeps_passwords=given["password_login_update_internal_password"],
        deletes=given["delete_not_found_objects"],
        parent_group=given["sync_parent_group"],
        private_hosts=tuple(work.settings.private_hosts),
    )


def _below(part: str, base: str) -> str:
    return f"{part.strip().rstrip(',')},{base}" if part.strip() else base
