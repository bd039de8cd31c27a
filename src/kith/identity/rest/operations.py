"""Creating, reading, changing and deleting records of any collection."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from kith.base.db import Dangling, Taken
from kith.base.errors import Complaint, Conflict, Invalid, NotFound
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.audit.hidden_attributes import hidden_attributes
from kith.identity.audit.private_values import fingerprinted
from kith.identity.caller import ApiCaller
from kith.identity.rest import masked_objects, policy_targets
from kith.identity.rest.facts import AccessChanged
from kith.identity.rest.fields import (
    MASK,
    Expression,
    Field,
    InvalidValue,
    Object,
    Reference,
    References,
    Secret,
    missing,
)
from kith.identity.rest.holders import holders
from kith.identity.rest.record import R, Record
from kith.identity.rest.record_draft import RecordDraft
from kith.identity.rest.record_store import RecordStore, StoredRecord, linked, missing_references, relink
from kith.identity.rest.resource import Resource
from kith.identity.rest.uniqueness import complain_taken
from kith.identity.rest.write_guard import judge, judge_after, judge_removal, rights_before

TRIES = 5


async def create(
    store: RecordStore[R],
    work: Work,
    caller: ApiCaller,
    sent: Mapping[str, Any],
    *,
    carried: Mapping[str, Any] | None = None,
) -> R:
    """`carried` is for records that come from another server: columns that nobody else can set, their key too."""
    resource = store.resource
    values = await _take(resource, sent, whole=True, new=True)
    draft: RecordDraft[R] = RecordDraft(work, caller, values=values, field_names=store.field_names)
    await judge(resource, draft)
    if resource.ahead is not None:
        await resource.ahead(draft)
    await _prepare(store, draft)
    _carry(store, draft, carried)
    _check_secrets_stay(store, draft)
    await work.db.begin()
    await _check_references(store, draft)
    await complain_taken(store, draft)
    columns = {"created_at": work.now, "updated_at": work.now, "kind": resource.kind, **draft.columns}
    if not resource.is_integer:
        columns.setdefault(resource.key, str(uuid.uuid4()))
        columns.setdefault(store.row_key.name, str(uuid.uuid4()))
    if resource.target:
        columns["pbm_uuid"] = columns[resource.key] if resource.key == "pbm_uuid" else str(uuid.uuid4())
        await policy_targets.add(work.db, columns["pbm_uuid"], resource.model)
    rights = await rights_before(work, f"{resource.area}.{resource.model}", caller)
    try:
        draft.id = await store.insert(work.db, _sealed(store, work, draft.values), columns)
    except Taken as error:
        raise Conflict("Somebody else made the same record at the same time, please try again") from error
    for field in store.links:
        await relink(work.db, field, draft.id, [], draft.values.get(field.name, []))
    await judge_after(work, caller, rights)
    if resource.saved is not None:
        await resource.saved(draft)
    record = await read(store, work, draft.id, sees_secrets=True)
    told = {"created": _told(work, resource, draft.id, draft.values)} | _as_shown(resource, record)
    _announce(resource, work)
    await _write_down(work, caller, "model_created", resource, record, **told)
    for name, value in draft.once.items():
        setattr(record, store.attributes[name], value)
    return record


async def update(
    store: RecordStore[R],
    work: Work,
    caller: ApiCaller,
    id: Any,
    sent: Mapping[str, Any],
    *,
    whole: bool,
    carried: Mapping[str, Any] | None = None,
) -> R:
    """`carried` as in `create`."""
    resource = store.resource
    values = await _take(resource, sent, whole=whole, new=False)
    draft, before = await _begin_change(store, work, caller, id, values, whole=whole)
    await _prepare(store, draft)
    _carry(store, draft, carried)
    _check_secrets_stay(store, draft)
    await _check_references(store, draft)
    await complain_taken(store, draft)
    changed = {name: value for name, value in draft.values.items() if name not in before or before[name] != value}
    if changed or draft.columns:
        await _write(store, work, draft, changed)
    if resource.saved is not None:
        await resource.saved(draft)
    shown = [*_shown_secrets(resource), *(field.name for field in store.hiding if caller.may(field.hides))]
    record = await read(store, work, id, sees_secrets=any(name in changed for name in shown))
    if not sees(store, caller):
        masked_objects.mask_guarded(store, [record])
    if changed:
        _announce(resource, work)
        was = _told(work, resource, id, {name: value for name, value in before.items() if name in changed})
        becomes = _told(work, resource, id, changed)
        diff = {name: {"previous_value": was.get(name), "new_value": value} for name, value in becomes.items()}
        await _write_down(work, caller, "model_updated", resource, record, diff=diff, **_as_shown(resource, record))
    return record


def _carry(store: RecordStore[R], draft: RecordDraft[R], carried: Mapping[str, Any] | None) -> None:
    for name, value in (carried or {}).items():
        draft.columns[name] = value
        if name in store.stored:
            draft.values[name] = value


async def _begin_change(
    store: RecordStore[R], work: Work, caller: ApiCaller, id: Any, values: dict[str, Any], *, whole: bool
) -> tuple[RecordDraft[R], dict[str, Any]]:
    """What is to be changed, and the record as it is stored, held from now on.

    What takes long is checked before, while nobody else waits, and once more if somebody changed the record meanwhile.
    """

    hidden = await hidden_attributes(work) if any(field.name in values for field in store.hiding) else frozenset()

    def draft_of(stored: StoredRecord[R]) -> RecordDraft[R]:
        return RecordDraft(
            work,
            caller,
            values=masked_objects.unmasked(store, values, stored.values, hidden),
            stored=stored.values,
            before=stored.record,
            id=id,
            whole=whole,
            field_names=store.field_names,
        )

    ahead = store.resource.ahead
    if ahead is None:
        stored = await _stored(store, work, caller, id, "change")
        draft = draft_of(stored)
        await judge(store.resource, draft)
        return draft, stored.values
    is_held = work.db.is_writing  # it is one of several changes that begin or end together
    seen = await _stored(store, work, caller, id, "change", held=is_held)
    for _ in range(TRIES):
        draft = draft_of(seen)
        await judge(store.resource, draft)
        await ahead(draft)
        if is_held or (held := await _stored(store, work, caller, id, "change")).values == seen.values:
            return draft, seen.values
        await work.db.rollback()
        seen = held
    raise Conflict("Somebody else changed this record at the same time, please try again")


async def _stored(
    store: RecordStore[R], work: Work, caller: ApiCaller, id: Any, verb: str, *, held: bool = True
) -> StoredRecord[R]:
    """The stored record, locked if `held`. Not found if the caller may only see their own and this is not."""
    resource = store.resource
    found = await store.find_stored(work.db, id, held=held)
    hidden = resource.own and not caller.may(resource.permission(verb))
    if found is None or (hidden and found.values[resource.own] != caller.id):
        raise NotFound
    return found


async def _write(store: RecordStore[R], work: Work, draft: RecordDraft[Any], changed: Mapping[str, Any]) -> None:
    stored = {name: value for name, value in changed.items() if name in store.stored}
    row_id = await row_id_of(store, work, draft.id)
    rights = await rights_before(work, f"{store.resource.area}.{store.resource.model}", draft.caller)
    try:
        await store.update(work.db, row_id, {**_sealed(store, work, stored), **draft.columns, "updated_at": work.now})
    except Taken as error:
        raise Conflict("Somebody else took this name at the same time, please try again") from error
    for field in store.links:
        if field.name in changed:
            await relink(work.db, field, draft.id, draft.stored[field.name], changed[field.name])
    await judge_after(work, draft.caller, rights)


async def row_id_of(store: RecordStore[R], work: Work, id: Any) -> Any:
    """The key of the record's row; for a few collections that is not the record's identifier."""
    if store.key.name == store.row_key.name:
        return id
    return await store.find_row_key(work.db, id)


async def read(store: RecordStore[R], work: Work, id: Any, *, sees_secrets: bool) -> R:
    row = await work.db.one(store.by_key, id=id)
    if row is None:
        raise NotFound
    [record] = await render(store, work, [row], sees_secrets=sees_secrets)
    return record


async def find_by_row(store: RecordStore[R], work: Work, row_key: Any) -> R | None:
    """A record by the key of its family's table; its secrets are masked."""
    row = await work.db.one(store.by_row_key, id=row_key)
    if row is None:
        return None
    [record] = await render(store, work, [row], sees_secrets=False)
    return record


async def render(store: RecordStore[R], work: Work, rows: Sequence[Sequence[Any]], *, sees_secrets: bool) -> list[R]:
    """Rows to records, in a fixed number of queries however many rows there are."""
    records = [store.record(row) for row in rows]
    for field in store.secrets:
        name = store.attributes[field.name]
        for record in records:
            sealed = getattr(record, name)
            setattr(record, name, _shown_secret(store, work, field, sealed, sees_secrets=sees_secrets))
    if records:
        for link in store.links:
            name = store.attributes[link.name]
            lists = await linked(work.db, link, [record.pk for record in records])
            for record in records:
                setattr(record, name, lists.get(record.pk, []))
        if store.resource.decorate is not None:
            await store.resource.decorate(work, records)
        if store.hiding and not sees_secrets:
            await masked_objects.mask(store, work, records)
        if not sees_secrets:
            masked_objects.mask_guarded(store, records)
    return records


def sees(store: RecordStore[Any], caller: ApiCaller) -> bool:
    """Whether secrets of single records are shown to them."""
    needed = {store.resource.permission("change"), "core.view_secret", *(field.hides for field in store.hiding)}
    return all(caller.may(one) for one in needed)


async def remove(store: RecordStore[R], work: Work, caller: ApiCaller, id: Any) -> None:
    resource = store.resource
    stored = await _stored(store, work, caller, id, "delete")
    record = await read(store, work, id, sees_secrets=False)
    row_id = await row_id_of(store, work, id)
    await judge_removal(work, resource, stored.values, caller)
    if resource.family is not None and resource.family.removing is not None:
        await resource.family.removing(work, stored.record, caller)
    if resource.removing is not None:
        await resource.removing(work, stored.record, caller)
    await refuse_if_held(store, work, row_id)
    try:
        await store.delete(work.db, row_id)
        if resource.target:
            await policy_targets.remove(work.db, [stored.values["pbm_uuid"]])
    except Dangling as error:
        raise Conflict("Something refers to this record, so it cannot be deleted.") from error
    _announce(resource, work)
    await _write_down(work, caller, "model_deleted", resource, record)


def _announce(resource: Resource[Any], work: Work) -> None:
    if resource.decides_access:
        work.announce(AccessChanged())


async def refuse_if_held(store: RecordStore[R], work: Work, row_id: Any) -> None:
    references: list[dict[str, Any]] = []
    for table in store.tables:
        for holder in holders(table):
            found = await work.db.all(holder.query, id=row_id)
            references += [{"type": holder.type, "pk": pk, "name": str(name)} for pk, name in found]
    if references:
        names = ", ".join(reference["name"] for reference in references[:3])
        raise Conflict(f"This record is in use by {names}, so it cannot be deleted.", extra={"references": references})


# Reading what was sent


async def _take(resource: Resource[Any], sent: Mapping[str, Any], *, whole: bool, new: bool) -> dict[str, Any]:
    """Read the values sent; in a thread if there are expressions, because another process checks them."""
    if any(isinstance(field, Expression) and field.name in sent for field in resource.all_fields):
        return await asyncio.to_thread(_read, resource, sent, whole=whole, new=new)
    return _read(resource, sent, whole=whole, new=new)


def _read(resource: Resource[Any], sent: Mapping[str, Any], *, whole: bool, new: bool) -> dict[str, Any]:
    """Validate every writable field; all complaints at once.

    What was not sent keeps its value, or gets its initial one.

    A missing secret, or a mask, keeps what is stored, so that a record can be sent back as it was read.
    """
    values: dict[str, Any] = {}
    complaints: dict[str, list[str]] = {}
    for field in resource.all_fields:
        masked = (isinstance(field, Secret) or field.guarded) and sent.get(field.name) == MASK
        if field.read_only or (masked and not new):
            continue
        name = field.alias if field.alias and field.alias in sent and field.name not in sent else field.name
        if name in sent and not masked:
            try:
                values[field.name] = field.read(sent[name])
            except InvalidValue as error:
                complaints[name] = [error.complaint]
        elif _is_required(field, sent, new=new) and whole and (new or not field.write_only):
            complaints[field.name] = [Complaint("This field is required.", "required")]
        elif new:
            values[field.name] = field.start()
    if complaints:
        raise Invalid(fields=complaints)
    return values


def _is_required(field: Field, sent: Mapping[str, Any], *, new: bool) -> bool:
    return field.required or (new and bool(field.required_unless) and field.required_unless not in sent)


async def _prepare(store: RecordStore[R], draft: RecordDraft[Any]) -> None:
    if store.resource.prepare is not None:
        await store.resource.prepare(draft)
    draft.raise_complaints()


async def _check_references(store: RecordStore[R], draft: RecordDraft[Any]) -> None:
    for field in store.resource.all_fields:
        if not isinstance(field, (Reference, References)) or not draft.sets(field.name):
            continue
        value = draft.values[field.name]
        ids = value if isinstance(field, References) else [] if value is None else [value]
        gone = await missing_references(draft.work.db, field, ids) if ids else []
        if gone:
            draft.complain(field.name, str(missing(gone[0])), "does_not_exist")
    draft.raise_complaints()


# Secrets


def _place(store: RecordStore[Any], field: Field) -> str:
    return f"{store.stored[field.name].table.name}.{field.name}"


def _sealed(store: RecordStore[R], work: Work, values: Mapping[str, Any]) -> dict[str, Any]:
    sealed = dict(values)
    for field in store.resource.all_fields:
        if isinstance(field, Secret) and sealed.get(field.name) is not None:
            sealed[field.name] = work.find(Sealer).seal(sealed[field.name], _place(store, field))
    return sealed


def _check_secrets_stay(store: RecordStore[R], draft: RecordDraft[Any]) -> None:
    """A stored secret must be sent again if the place it is sent to changes.

    What another record holds cannot be: where it goes is said by those who may change it.
    """
    for field in store.resource.all_fields:
        if not isinstance(field, Secret) or field.name in draft.values or draft.caller.way == "system":
            continue
        sealed = draft.stored.get(field.name) if any(_leads_elsewhere(draft, one) for one in field.sent_to) else None
        if sealed is not None and draft.work.find(Sealer).open(sealed, _place(store, field)):
            draft.complain(field.name, "Send this too: it would go somewhere else than before.", "required")
    for field in store.resource.all_fields:
        if not isinstance(field, Reference) or not field.sent_to or draft.value(field.name) is None:
            continue
        if any(draft.sets(name) for name in (field.name, *field.sent_to)) and not draft.caller.may(field.needs):
            draft.complain(
                field.name, "Only somebody who may change this may say where it is sent.", "permission_denied"
            )
    draft.raise_complaints()


def _leads_elsewhere(draft: RecordDraft[Any], name: str) -> bool:
    """What is only switched on (TLS) protects a secret, so it may stay."""
    is_switched_on = draft.stored.get(name) is False and draft.values.get(name) is True
    return draft.sets(name) and not is_switched_on


def _shown_secret(store: RecordStore[R], work: Work, field: Field, sealed: str | None, *, sees_secrets: bool) -> str:
    if sealed is None:
        return ""
    opened = work.find(Sealer).open(sealed, _place(store, field))
    return opened if sees_secrets or not opened else MASK


def _shown_secrets(resource: Resource[Any]) -> list[str]:
    return [f.name for f in resource.all_fields if f.guarded or (isinstance(f, Secret) and f.shown)]


def _as_shown(resource: Resource[Any], record: Record) -> dict[str, Any]:
    """The names of the secrets that the answer shows, for the audit trail."""
    names = [name for name in _shown_secrets(resource) if _is_open(getattr(record, name))]
    return {"shown": names} if names else {}


def _is_open(value: Any) -> bool:
    """Whether there is something, and not only its mask."""
    values = value.values() if isinstance(value, Mapping) else (value,)
    return any(one and one != MASK for one in values)


async def record_view(work: Work, caller: ApiCaller, resource: Resource[Any], record: Record) -> None:
    """Record which secrets were shown."""
    for name in _as_shown(resource, record).get("shown", ()):
        await _write_down(work, caller, "secret_view", resource, record, viewed=name)
    hiding = [field for field in resource.all_fields if isinstance(field, Object) and field.hides]
    hidden = await hidden_attributes(work) if hiding else frozenset()
    for field in hiding:
        for name in sorted(hidden & {name for name, one in getattr(record, field.name).items() if one}):
            await _write_down(work, caller, "secret_view", resource, record, viewed=f"{field.name}.{name}")


def _told(work: Work, resource: Resource[Any], id: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values for the audit trail, with secret fields masked, and fingerprints of those that may hold secrets."""
    secret = {field.name for field in resource.all_fields if field.write_only}
    private = {field.name for field in resource.all_fields if field.private or field.guarded}
    place = f"{resource.area}.{resource.model}.{id}"

    def told(name: str, value: Any) -> Any:
        if name in secret and value:
            return audit.MASK
        return fingerprinted(work, f"{place}.{name}", value) if name in private else audit.masked(value)

    return {name: told(name, value) for name, value in values.items()}


async def _write_down(
    work: Work,
    caller: ApiCaller,
    action: str,
    resource: Resource[Any],
    record: Record,
    **told: Any,
) -> None:
    if not resource.is_audited:
        return
    pk = audit.fingerprint(record.pk) if resource.is_key_secret else record.pk
    model = {
        "app": resource.area,
        "model_name": resource.model,
        "pk": pk,
        "name": _name_of(resource, record) or str(pk),
    }
    await audit.record(
        work,
        action,
        f"{resource.area}.{resource.model}",
        user_id=caller.id or None,
        username=caller.username,
        context={"model": model},
        known=told,
    )


def _name_of(resource: Resource[Any], record: Record) -> str:
    """The record's name for the audit trail, or another field that identifies it; empty if it has none."""
    names = (resource.label, "slug", "client_id", "field_key", "identifier")
    return str(next((found for name in names if (found := getattr(record, name, None))), ""))
