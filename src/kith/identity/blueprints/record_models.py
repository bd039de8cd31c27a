"""The models of the identity API's collections, made from their declarations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Table, bindparam, select

from kith.base.db import METADATA, Document, Query, any_of, query
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.blueprints.evaluation import FoundRecord
from kith.identity.blueprints.models import RecordLink, SecretText, StoredValues, Values
from kith.identity.blueprints.run import BlueprintRun
from kith.identity.blueprints.tags import BadBlueprint
from kith.identity.caller import ApiCaller
from kith.identity.rest import Resource, operations
from kith.identity.rest.fields import MASK, Computed, Expression, Field, InvalidValue, Reference, References, Secret
from kith.identity.rest.record_store import RecordStore

__all__ = ["RecordModel"]

TARGET = "identity_policy_targets.pbm_uuid"
AT_ONCE = 500
BINDING = "policies.policybinding"

# By what records are known; without an entry here, by their names.
NATURAL: dict[str, tuple[str, ...]] = {
    "core.user": ("username",),
    "core.emailblock": ("value",),
    "core.accessoffer": ("application", "group"),
    "core.application": ("slug",),
    "core.applicationentitlement": ("name", "app"),
    "core.brand": ("domain",),
    "flows.flow": ("slug",),
    "flows.flowstagebinding": ("flow", "stage", "order"),
    "policies.policybinding": ("target", "policy", "group", "user", "order"),
    "providers.oauth2provider": ("client_id",),
    "providers.openidprovider": ("client_id",),
    "sources.ldapsource": ("slug",),
    "sources.oauthsource": ("slug",),
    "sources.samlsource": ("slug",),
    "sources.scimsource": ("slug",),
}
# What the API only shows, but belongs to a record that comes from another server.
CARRIED: dict[str, tuple[str, ...]] = {
    "core.user": ("uuid",),
    "crypto.certificatekeypair": ("managed",),
    "providers.applicationgatewayprovider": ("client_id",),
    "sources.oauthsource": ("oidc_issuer",),
}
_LEFT_OUT = {"core.group": {"user_set"}}  # told by the other side
_FILES = {
    "rbac": "10-people",
    "crypto": "20-certificates",
    "propertymappings": "30-mappings",
    "flows": "40-flows",
    "policies": "50-policies",
    "sources": "60-sources",
    "stages": "70-stages",
    "providers": "80-applications",
    "events": "85-notifications",
}
_FILES_OF_MODELS = {
    "core.group": "10-people",
    "core.user": "10-people",
    "core.emailblock": "10-people",
    "core.application": "80-applications",
    "core.applicationentitlement": "80-applications",
    "flows.flowstagebinding": "75-steps",
    "policies.policybinding": "90-access",
    "core.accessoffer": "90-access",
    "core.brand": "95-brands",
}


class RecordModel:
    slow: tuple[str, ...] = ()

    def __init__(self, resource: Resource[Any]) -> None:
        self.resource = resource
        self.store: RecordStore[Any] = RecordStore(resource)
        self.name = f"{resource.area}.{resource.model}"
        self.can_write = "create" in resource.allow
        file = _FILES_OF_MODELS.get(self.name) or _FILES.get(resource.area, "99-more")
        self.file = file if self.can_write else ""
        left_out = _LEFT_OUT.get(self.name, set())
        carried = CARRIED.get(self.name, ())
        if resource.area == "propertymappings":
            carried = ("managed",)
        self.carried = carried
        self.fields = {
            field.name: field
            for field in resource.all_fields
            if not isinstance(field, Computed)
            and (field.is_stored or isinstance(field, References))
            and (not field.read_only or field.name in carried)
        }
        self.guarded = tuple(field.name for field in resource.all_fields if field.guarded)
        self.exported = [name for name in self.fields if name not in left_out]
        self._aliases = {field.alias: field.name for field in self.fields.values() if field.alias}
        self._inputs = {field.name for field in resource.all_fields if not field.is_stored and not field.read_only}

    async def prepare(self, _run: BlueprintRun, _identifiers: Values, _slow: Values) -> None:
        return None

    async def prepared(self, _run: BlueprintRun) -> None:
        return None

    def natural(self, values: Values) -> tuple[str, ...]:
        if values.get("managed"):
            return ("managed",)
        return NATURAL.get(self.name, ("name",))

    def before_others(self, _values: Values) -> int:
        return 0

    async def may(self, _work: Work, caller: ApiCaller) -> bool:
        return all(caller.may(self.resource.permission(verb)) for verb in ("add", "change", "delete"))

    async def may_see(self, _work: Work, caller: ApiCaller) -> bool:
        return caller.may(self.resource.permission("view"))

    # Finding

    async def find(self, run: BlueprintRun, wanted: Values) -> StoredValues | None:
        given = dict(wanted)
        pks = [given.pop(name) for name in ("pk", self.resource.key) if name in given]
        for pk in pks:
            found = await self._by_pk(run.work, pk)
            if found is not None:
                return found
        return await self._by_fields(run.work, given) if given else None

    async def _by_pk(self, work: Work, pk: Any) -> StoredValues | None:
        if isinstance(pk, FoundRecord):
            pk = pk.pk
        try:
            key = Reference(name="pk", to="", integer=self.resource.is_integer).read(pk)
        except InvalidValue:
            return None
        return await self.one(work, key)

    async def _by_fields(self, work: Work, given: Values) -> StoredValues | None:
        names, values = [], {}
        for word, value in given.items():
            name = self._aliases.get(word, word)
            column = self.store.stored.get(name)
            field = next((one for one in self.resource.all_fields if one.name == name), None)
            if field is None or column is None or not _is_findable(field) or isinstance(column.type, Document):
                raise BadBlueprint(f"{self.name} cannot be found by `{word[:50]}`")
            wanted = self._pointed(field, value)
            try:
                values[f"is_{name}"] = wanted if wanted is None else field.take(wanted)
            except InvalidValue:
                return None
            names.append(name)
        nulls = tuple(sorted(name for name in names if values[f"is_{name}"] is None))
        statement = self._match(tuple(sorted(names)), nulls)
        rows = await work.db.all(statement, **{key: value for key, value in values.items() if value is not None})
        if len(rows) > 1:
            raise BadBlueprint(f"several records of {self.name} match {_told(given)}")
        return await self.one(work, rows[0]) if rows else None

    @lru_cache(64)  # noqa: B019 - models live as long as the server
    def _match(self, names: tuple[str, ...], nulls: tuple[str, ...]) -> Query[Any]:
        columns = self.store.stored
        clauses = [
            columns[name].is_(None)
            if name in nulls
            else columns[name] == bindparam(f"is_{name}", type_=columns[name].type)
            for name in names
        ]
        kind = [] if self.resource.only is None else [self.resource.only]
        if self.resource.kind:
            kind = [self.store.tables[0].c.kind == self.resource.kind]
        return query(select(self.store.key).select_from(self.store.source).where(*kind, *clauses).limit(2), object)

    async def one(self, work: Work, pk: Any) -> StoredValues | None:
        stored = await self.store.find_stored(work.db, pk, held=False)
        if stored is None:
            return None
        return await self._as_values(work, pk, stored.values)

    async def _as_values(self, work: Work, pk: Any, stored: Values) -> StoredValues:
        values: Values = {}
        for name, field in self.fields.items():
            if isinstance(field, Secret):
                place = f"{self.store.stored[name].table.name}.{name}"
                sealed = stored.get(name)
                values[name] = SecretText(work.find(Sealer).open(sealed, place) if sealed else "")
            elif isinstance(field, Reference):
                values[name] = await _link(work, field.to, stored[name])
            elif isinstance(field, References):
                kept = await _without_ends(work, field, pk, stored[name])
                values[name] = [await _link(work, field.to, one) for one in kept]
            else:
                values[name] = stored[name]
        return StoredValues(pk, values, self._keys(pk, stored))

    def _keys(self, pk: Any, stored: Values) -> Values:
        keys = {
            f"{table.name}.{self.resource.key}": pk for table in self.resource.tables if self.resource.key in table.c
        }
        for field in self.resource.all_fields:
            if isinstance(field, Reference) and field.read_only:
                keys[field.to] = stored[field.name]
        if self.resource.target:
            keys.setdefault(TARGET, pk)
        return keys

    def is_named_by(self, to: str) -> bool:
        """Whether a link to this column leads to one of these records."""
        return any(to == f"{table.name}.{self.resource.key}" for table in self.resource.tables)

    # Writing

    def _pointed(self, field: Field, value: Any) -> Any:
        """Records that tags have led to, by the column that this field knows them by."""
        if isinstance(value, FoundRecord):
            if not isinstance(field, (Reference, References)):
                return value.pk
            if field.to not in value.keys:
                raise BadBlueprint(f"`{field.name}` of {self.name} cannot be a {value.model}")
            return value.keys[field.to]
        if isinstance(value, list):
            return [self._pointed(field, one) for one in value]
        if isinstance(value, dict):
            return {name: self._pointed(field, one) for name, one in value.items()}
        return value

    def _taken(self, run: BlueprintRun, attrs: Values) -> Values:
        """What is known of `attrs`, by the names of fields. What a secret leaves open stays as it is."""
        taken: Values = {}
        for word, value in attrs.items():
            name = self._aliases.get(word, word)
            field = self.fields.get(name)
            if name in ("pk", self.resource.key):
                continue
            if field is None:
                if word in self._inputs:
                    taken[word] = value
                else:
                    run.warn(f"{self.name} has no `{word[:50]}` here, so it was left out")
                continue
            if isinstance(field, Secret) and value in (None, MASK):
                continue
            if isinstance(field, References) and isinstance(value, list) and None in value:
                run.warn(f"something in `{name}` of {self.name} was not found, so it was left out")
            taken[name] = self._pointed(field, _without_gaps(field, value))
        return taken

    def _split(self, run: BlueprintRun, taken: Values) -> tuple[Values, Values]:
        """What is sent as a client would, and what is carried over."""
        carried = {name: taken[name] for name in self.carried if name in taken}
        if carried and run.caller.permissions is not None:
            run.warn(f"only a superuser can set {', '.join(carried)} of {self.name}")
            carried = {}
        return {name: value for name, value in taken.items() if name not in self.carried}, carried

    async def create(self, run: BlueprintRun, attrs: Values) -> StoredValues:
        return await self.create_with(run, attrs, {})

    async def create_with(self, run: BlueprintRun, attrs: Values, columns: Values) -> StoredValues:
        """`columns` are set besides, whatever the API shows of them."""
        self._check_writable()
        sent, carried = self._split(run, self._taken(run, attrs))
        carried |= columns
        pk = attrs.get("pk", attrs.get(self.resource.key))
        # A policy may ask for a group that is gone by its key: whoever chose that key would bring it back.
        may_choose = run.caller.permissions is None or self.resource.key != "group_uuid"
        if isinstance(pk, str) and not self.resource.is_integer and may_choose:
            carried[self.resource.key] = Reference(name="pk", to="").read(pk)
        record = await operations.create(self.store, run.work, run.caller, sent, carried=carried)
        return await self._must_find(run, record.pk)

    async def _must_find(self, run: BlueprintRun, pk: Any) -> StoredValues:
        found = await self.one(run.work, pk)
        if found is None:
            raise BadBlueprint(f"a record of {self.name} went away meanwhile")
        return found

    async def update(self, run: BlueprintRun, stored: StoredValues, attrs: Values) -> StoredValues:
        self._check_writable()
        held = await self.store.find_stored(run.work.db, stored.pk)
        if held is None:
            raise BadBlueprint(f"a record of {self.name} went away meanwhile")
        sent, carried = self._split(run, self._taken(run, attrs))
        needed = {}
        for name, value in sent.items():
            if self._differs(stored, held.values, name, value):
                needed[name] = await self._kept_ends(run, stored, name, value)
        for name, field in self.fields.items():
            if isinstance(field, Secret) and name in sent and any(one in needed for one in field.sent_to):
                needed[name] = sent[name]  # it goes somewhere else now, so it is sent again
        carried = {name: value for name, value in carried.items() if held.values.get(name) != value}
        if not needed and not carried:
            return stored
        await operations.update(
            self.store, run.work, run.caller, stored.pk, needed, whole=False, carried=carried or None
        )
        return await self._must_find(run, stored.pk)

    def _differs(self, now: StoredValues, stored: Values, name: str, value: Any) -> bool:
        field = self.fields.get(name)
        if field is None:
            return True
        if isinstance(field, Secret):
            return bool(now.values[name].text != value)
        before = [link.key for link in now.values[name]] if isinstance(field, References) else stored.get(name)
        if value == before or isinstance(field, Expression):
            return bool(value != before)
        try:
            read = field.read(value)
        except InvalidValue:
            return True
        return bool(set(read) != set(before or ())) if isinstance(field, References) else bool(read != before)

    async def _kept_ends(self, run: BlueprintRun, now: StoredValues, name: str, value: Any) -> Any:
        """Memberships that end by themselves are no configuration: a list does not take them away."""
        field = self.fields.get(name)
        if not isinstance(field, References) or not field.ends or not isinstance(value, list):
            return value
        return [*value, *await _with_ends(run.work, field, now.pk)]

    async def remove(self, run: BlueprintRun, stored: StoredValues) -> None:
        self._check_writable()
        await operations.remove(self.store, run.work, run.caller, stored.pk)

    def _check_writable(self) -> None:
        if not self.can_write:
            raise BadBlueprint(f"{self.name} can only be found; name the kind that is meant")

    async def every(self, work: Work) -> list[StoredValues]:
        """Without what is over already; but a binding that is over still refuses."""
        found: list[StoredValues] = []
        keys = await work.db.all(self._keys_query())
        for pk in keys:
            one = await self.one(work, pk)
            if one is not None and (self.name == BINDING or not self.is_over(work, one)):
                one.values = {name: value for name, value in one.values.items() if name in self.exported}
                found.append(one)
        return found

    def is_over(self, work: Work, one: StoredValues) -> bool:
        ends = one.values.get("expires")
        return isinstance(ends, datetime) and ends <= work.now

    @lru_cache(1)  # noqa: B019 - models live as long as the server
    def _keys_query(self) -> Query[Any]:
        kind = [] if self.resource.only is None else [self.resource.only]
        if self.resource.kind:
            kind = [self.store.tables[0].c.kind == self.resource.kind]
        return query(select(self.store.key).select_from(self.store.source).where(*kind), object)


def _is_findable(field: Field) -> bool:
    """Whoever could ask for what they may not see, could guess it."""
    return not isinstance(field, Secret) and not field.guarded


def _without_gaps(field: Field, value: Any) -> Any:
    if isinstance(field, References) and isinstance(value, list):
        return [one for one in value if one is not None]
    return value


def _told(given: Values) -> str:
    return ", ".join(f"{name} = {str(value)[:50]}" for name, value in given.items())


# What records refer to


@lru_cache(64)
def _label_query(to: str) -> Query[Any]:
    table_name, _, key = to.partition(".")
    table = METADATA.tables[table_name]
    names = [table.c[name] for name in ("slug", "username", "name", "domain") if name in table.c]
    return query(select((*names, table.c[key])[0]).where(table.c[key] == bindparam("id")), object)


async def _link(work: Work, to: str, key: Any) -> RecordLink | None:
    if key is None:
        return None
    label = await _target_label(work, key) if to == TARGET else await work.db.one(_label_query(to), id=key)
    return RecordLink(to, key, str(label or key))


@lru_cache(1)
def _targets() -> tuple[str, ...]:
    """Where what policies decide about is kept, as far as it has names."""
    names = ("slug", "name")
    tables = [one for one in METADATA.tables.values() if "pbm_uuid" in one.c and any(name in one.c for name in names)]
    return tuple(f"{table.name}.pbm_uuid" for table in tables)


async def _target_label(work: Work, key: Any) -> Any:
    for to in _targets():
        found = await work.db.one(_label_query(to), id=key)
        if found is not None:
            return found
    return None


@lru_cache(16)
def _ending_query(link: Table, owner: str, other: str, ends: str) -> Query[Any]:
    return query(select(link.c[other]).where(any_of(link.c[owner], "owners"), link.c[ends].is_not(None)), object)


async def _with_ends(work: Work, field: References, pk: Any) -> Sequence[Any]:
    if not field.ends:
        return ()
    return await work.db.all(_ending_query(field.link, field.owner, field.other, field.ends), owners=[pk])


async def _without_ends(work: Work, field: References, pk: Any, keys: Sequence[Any]) -> list[Any]:
    ending = set(await _with_ends(work, field, pk))
    return [key for key in keys if key not in ending]
