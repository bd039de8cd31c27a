"""Reads authentik's PostgreSQL database, or a plain dump of it.

Its tables are named after the models. What several kinds have in common is in a table of its own, to which `…_ptr_id`
leads; references are columns that end with `_id`, and lists of them are tables with two such columns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from kith.base.db.copy_format import read_line
from kith.base.errors import Invalid
from kith.base.import_runs import LeftOutRow
from kith.cli.imports.authentik.records import STEPS, AuthentikServer, OldRecord
from kith.cli.imports.postgres_sources import source_for
from kith.cli.imports.progress import Progress

__all__ = ["read_database", "read_rows"]

Row = dict[str, str | None]
MOST_ROWS = 2_000_000
_BASES = {  # where a `…_ptr_id` leads to, and what kinds of it are called in the report
    "provider_ptr_id": ("authentik_core_provider", "id", "providers"),
    "oauth2provider_ptr_id": ("authentik_providers_oauth2_oauth2provider", "provider_ptr_id", ""),
    "stage_ptr_id": ("authentik_flows_stage", "stage_uuid", "stages"),
    "policy_ptr_id": ("authentik_policies_policy", "policy_uuid", "policies"),
    "propertymapping_ptr_id": ("authentik_core_propertymapping", "pm_uuid", "mappings"),
    "source_ptr_id": ("authentik_core_source", "policybindingmodel_ptr_id", "sources"),
    "policybindingmodel_ptr_id": ("authentik_policies_policybindingmodel", "pbm_uuid", ""),
}
_KEYS = {
    "authentik_core.group": "group_uuid",
    "authentik_flows.flow": "flow_uuid",
    "authentik_flows.flowstagebinding": "fsb_uuid",
    "authentik_policies.policybinding": "policy_binding_uuid",
    "authentik_brands.brand": "brand_uuid",
    "authentik_tenants.tenant": "tenant_uuid",
    "authentik_crypto.certificatekeypair": "kp_uuid",
    "authentik_stages_prompt.prompt": "prompt_uuid",
    "authentik_events.notificationtransport": "uuid",
    "authentik_rbac.role": "uuid",
    "authentik_core.token": "token_uuid",
}


def _table(name: str) -> str:
    """Django shortens names to what PostgreSQL takes: the end is part of a hash of the whole."""
    if len(name) <= 63:
        return name
    return f"{name[:59]}{hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()[:4]}"


# Lists: the table, its two columns, the field, and the models whose it is.
_LISTS = (
    ("authentik_core_user_ak_groups", "user_id", "group_id", "groups", "authentik_core.user"),
    ("authentik_core_user_groups", "user_id", "group_id", "groups", "authentik_core.user"),
    ("authentik_core_group_roles", "group_id", "role_id", "roles", "authentik_core.group"),
    ("authentik_core_groupparentage", "child_id", "parent_id", "parents", "authentik_core.group"),
    (
        "authentik_core_provider_property_mappings", "provider_id", "propertymapping_id", "property_mappings",
        "authentik_providers_",
    ),
    (
        "authentik_core_source_user_property_mappings", "source_id", "propertymapping_id", "user_property_mappings",
        "authentik_sources_",
    ),
    (
        "authentik_core_source_group_property_mappings", "source_id", "propertymapping_id", "group_property_mappings",
        "authentik_sources_",
    ),
    ("authentik_stages_prompt_promptstage_fields", "promptstage_id", "prompt_id", "fields", "authentik_stages_prompt."),
    (
        "authentik_stages_prompt_promptstage_validation_policies", "promptstage_id", "policy_id",
        "validation_policies", "authentik_stages_prompt.",
    ),
    (
        "authentik_stages_identification_identificationstage_sources", "identificationstage_id", "source_id",
        "sources", "authentik_stages_identification.",
    ),
    (
        f"{_table('authentik_stages_authenticator_validate_authenticatorvalidatestage')}_configuration_stages",
        "authenticatorvalidatestage_id", "stage_id", "configuration_stages", "authentik_stages_authenticator_validate.",
    ),
    (
        "authentik_events_notificationrule_transports", "notificationrule_id", "notificationtransport_id",
        "transports", "authentik_events.notificationrule",
    ),
    (
        "authentik_stages_authenticator_static_statictoken", "device_id", "token", "codes",
        "authentik_stages_authenticator_static.",
    ),
)  # fmt: skip

_NO_REFERENCES = frozenset({"client_id", "credential_id", "rp_id"})
_CONNECTIONS = tuple(
    f"authentik_sources_{kind}_user{kind}sourceconnection" for kind in ("oauth", "saml", "ldap", "plex")
)
_ALSO = ("authentik_install_id", *_CONNECTIONS)
WANTED: dict[str, None] = dict.fromkeys(
    (
        *(_table(model.replace(".", "_")) for step in STEPS for model in step.models),
        *(base for base, _, _ in _BASES.values()),
        *(_table(table) for table, *_ in _LISTS),
        *_ALSO,
    )
)
NEEDED = ("authentik_core_user", "authentik_core_group", "authentik_flows_flow")


async def read_database(where: str, progress: Progress) -> AuthentikServer:
    source = source_for(where, WANTED)
    tables: dict[str, list[Row]] = {}
    left = MOST_ROWS

    def take(table: str, columns: list[str], line: bytes | None) -> None:
        nonlocal left
        rows = tables.setdefault(table, [])
        if line is None:
            return
        left -= 1
        values = read_line(line)
        if len(values) != len(columns):
            raise Invalid(f"a row of {table} has {len(values)} values for {len(columns)} columns")
        if left < 0:
            raise Invalid(f"there are more than {MOST_ROWS} rows in it")
        rows.append(dict(zip(columns, values, strict=True)))

    progress.begin_reading(source.size)
    await source.read(take, lambda _table, size: progress.read(size))
    progress.end()
    missing = [name for name in NEEDED if name not in tables]
    if missing:
        raise Invalid(f"this is no authentik database: it has no {', '.join(missing)}")
    return read_rows(source.name, tables)


def read_rows(name: str, tables: dict[str, list[Row]]) -> AuthentikServer:
    install = next((str(row["id"]) for row in tables.get("authentik_install_id", ())), "")
    origin = hashlib.sha256(f"authentik:{install or name}".encode()).hexdigest()
    server = AuthentikServer(name, origin, [], install_id=install, is_database=True)
    reader = _Reader(tables)
    proxies = {row["oauth2provider_ptr_id"] for row in tables.get("authentik_providers_proxy_proxyprovider", ())}
    for step in STEPS:
        for model in step.models:
            for row in tables.get(_table(model.replace(".", "_")), ()):
                if model == "authentik_providers_oauth2.oauth2provider" and row["provider_ptr_id"] in proxies:
                    continue
                server.records.append(reader.record(model, row))
    server.left += reader.unknown()
    return server


class _Reader:
    def __init__(self, tables: dict[str, list[Row]]) -> None:
        self._tables = tables
        self._bases = {
            column: {row[key]: row for row in tables.get(table, ())} for column, (table, key, _) in _BASES.items()
        }
        self._lists = {
            (field, models): self._list(_table(table), owner, other) for table, owner, other, field, models in _LISTS
            if _table(table) in tables
        }  # fmt: skip
        self._seen: dict[str, set[str | None]] = {column: set() for column in _BASES}
        self._identifiers = {
            row.get("usersourceconnection_ptr_id"): row for table in _CONNECTIONS for row in tables.get(table, ())
        }
        self._backchannel: dict[str | None, list[str]] = {}
        for row in tables.get("authentik_core_provider", ()):
            if row.get("backchannel_application_id"):
                self._backchannel.setdefault(row["backchannel_application_id"], []).append(str(row["id"]))

    def _list(self, table: str, owner: str, other: str) -> dict[str | None, list[str]]:
        found: dict[str | None, list[str]] = {}
        for row in self._tables[table]:
            found.setdefault(row.get(owner), []).append(str(row.get(other)))
        return found

    def record(self, model: str, row: Row) -> OldRecord:
        whole, root = self._whole(row)
        pk = str(whole.get(_KEYS.get(model, "")) or root or whole.get("id") or "")
        values: dict[str, Any] = {_field(name): value for name, value in whole.items() if not name.endswith("_ptr_id")}
        for (field, models), found in self._lists.items():
            if model.startswith(models):
                values.setdefault(field, [])
                values[field] = [*values[field], *found.get(pk, [])]
        if model == "authentik_core.application":
            values["backchannel_providers"] = self._backchannel.get(pk, [])
        if model == "authentik_core.usersourceconnection":
            values |= {name: one for name, one in self._identifiers.get(whole.get("id"), {}).items() if one}
        return OldRecord(model, pk, values, str(whole.get("policybindingmodel_ptr_id") or ""))

    def _whole(self, row: Row) -> tuple[Row, str | None]:
        """With what it has in common with others, and by which key these know it."""
        whole, root = dict(row), None
        for column in list(row):
            base = self._bases.get(column)
            if base is None:
                continue
            self._seen[column].add(row[column])
            above, further = self._whole(base.get(row[column], {}))
            whole = {**above, **whole}
            root = further or row[column]
        return whole, root

    def unknown(self) -> Iterator[LeftOutRow]:
        """What is of a kind of which nothing is known here."""
        for column, (table, key, step) in _BASES.items():
            for row in self._tables.get(table, ()) if step else ():
                if row[key] not in self._seen[column]:
                    name = row.get("slug") or row.get("name") or row[key]
                    yield LeftOutRow(step, str(name), "there is nothing of its kind here")


def _field(column: str) -> str:
    return column if column in _NO_REFERENCES or not column.endswith("_id") else column.removesuffix("_id")
