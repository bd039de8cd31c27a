"""Takes authentik's records over, one after the other and each through the checks of the API.

One that cannot be taken is left out, and so is what cannot be without it. Where that would open something, a policy
that refuses stands in its place.
"""

from __future__ import annotations

import uuid
from typing import Any

from kith.base import import_runs
from kith.base.errors import Problem
from kith.base.work import Work
from kith.cli.failures import words_for
from kith.cli.imports.authentik import devices
from kith.cli.imports.authentik.adjusting import NotTaken, adjusted, passed_over, stands_here
from kith.cli.imports.authentik.people import new_person
from kith.cli.imports.authentik.records import AuthentikServer, OldRecord, step_of
from kith.cli.imports.authentik.values import from_export, from_text, is_said
from kith.cli.imports.running import Batch
from kith.identity.blueprints.applying import SYSTEM
from kith.identity.blueprints.models import Models, StoredValues
from kith.identity.blueprints.record_models import TARGET, RecordModel
from kith.identity.blueprints.run import BlueprintRun
from kith.identity.blueprints.tags import BadBlueprint
from kith.identity.blueprints.user_model import UserModel
from kith.identity.rest.fields import InvalidValue, Reference, References

__all__ = ["Taking"]

BINDING, STEP = "authentik_policies.policybinding", "authentik_flows.flowstagebinding"
_REFUSES = "refusal"
REFUSAL = "authentik-import-left-out"
PEOPLE = "identity_users.id"
# References without which a record is as safe as with them.
_MAY_MISS = frozenset({"provider", "parent", "default_application", "web_certificate", "certificate", "signing_key"})
# What every table has, and what is told elsewhere or means nothing here.
_NOT_FIELDS = frozenset({
    "id", "pk", "uuid", "created", "last_updated", "password", "password_change_date", "last_login", "date_joined",
    "first_name", "last_name", "is_superuser", "managed", "provider", "backchannel_application", "is_backchannel",
    "pbm_uuid", "policy_engine_mode", "stage_uuid", "policy_uuid", "pm_uuid", "flow_uuid", "kp_uuid", "fsb_uuid",
    "brand_uuid", "prompt_uuid", "group_uuid", "policy_binding_uuid", "parents", "num_pk", "component", "codes",
    "cookie_secret", "redirect_uris", "_redirect_uris", "verbose_name", "verbose_name_plural", "uid",
    "deletion", "template", "assigned_application_slug", "polymorphic_ctype", "is_staff",
})  # fmt: skip
_DEVICES = frozenset({
    "authentik_stages_authenticator_totp.totpdevice", "authentik_stages_authenticator_static.staticdevice",
    "authentik_stages_authenticator_webauthn.webauthndevice", "authentik_core.token",
    "authentik_core.usersourceconnection",
})  # fmt: skip


class Taking:
    """`known` are keys here by what they are of and the keys there; `before` what came from there earlier."""

    def __init__(self, server: AuthentikServer, before: dict[tuple[str, str], str], *, with_scim: bool) -> None:
        self.server = server
        self.known: dict[tuple[str, str], Any] = {}
        self.stage_targets: set[str] = set()
        self.is_repeated = False  # what is at hand was taken before it was interrupted, and is only looked up
        self._shipped: set[str] = set()
        self._before = before
        self._with_scim = with_scim
        self._lost: set[tuple[str, str]] = set()
        self._names = {one.target or one.pk: one.label for one in server.records}
        self._names |= {one.pk: one.label for one in server.records if not one.model.startswith("authentik_providers_")}
        for (model, old), new in before.items():
            if model == _REFUSES:
                self._refuse(old, new)

    def came_before(self, record: OldRecord) -> bool:
        return (record.model, record.pk) in self._before

    async def take(self, batch: Batch[OldRecord]) -> None:
        for record in batch.items:
            if self.is_repeated and not self.came_before(record):
                continue  # it was left out, and told
            try:
                async with batch.work.attempt():
                    await batch.work.db.begin()
                    batch.taken += await self._take(batch, record)
            except (NotTaken, BadBlueprint, InvalidValue, Problem) as error:
                batch.leave(self._label(record), _words(error))
                if step_of(record.model) == "policies":
                    await self._put_refusal(batch, record)

    def _label(self, record: OldRecord) -> str:
        """Bindings have no names: what they decide about, and who decides."""
        if record.model != BINDING:
            return record.label
        target = str(record.values.get("target") or "")
        said = (str(record.values[name]) for name in ("policy", "group", "user") if record.values.get(name))
        decider = next(said, "")
        return f"{self._names.get(target, target)}: {self._names.get(decider, decider)}"

    async def _take(self, batch: Batch[OldRecord], record: OldRecord) -> int:
        """1, or 0 for what is here already."""
        if record.model in _DEVICES:
            return await devices.take(batch, record, self)
        model = batch.work.find(Models).find(record.model)
        if not isinstance(model, RecordModel):
            raise NotTaken(f"there is nothing like {record.model} here")
        if await self._is_there(batch.work, model, record) or self._is_shipped(record):
            return 0
        if model.name == "providers.scimprovider" and not self._with_scim:
            raise NotTaken("it would begin to send people there: import it with --with-scim, or make it later")
        if passed_over(record, self.server):
            return 0
        values = from_text(model, record) if self.server.is_database else from_export(model, record)
        values = adjusted(batch, self.server, record, values)
        found = await stands_here(batch, model, record, values)
        if found is None:
            found = await self._make(batch, model, record, values)
            made = 1
        else:
            made = 0
        await self._keep(batch, model, record, found)
        return made

    def _is_shipped(self, record: OldRecord) -> bool:
        """Steps of flows that stay as they are here, and what authentik's own policies decide about them."""
        values = record.values
        if record.model == STEP:
            return str(values.get("target")) in self._shipped
        return record.model == BINDING and {str(values.get("target")), str(values.get("policy"))} <= self._shipped

    async def _is_there(self, work: Work, model: RecordModel, record: OldRecord) -> bool:
        new = self._before.get((record.model, record.pk))
        if new is None:
            return False
        found = await model.one(work, int(new) if model.resource.is_integer else new)
        if found is not None:
            self._learn(model, record, found)
        return found is not None

    async def _make(
        self, batch: Batch[OldRecord], model: RecordModel, record: OldRecord, values: dict[str, Any]
    ) -> StoredValues:
        run = BlueprintRun(batch.work, SYSTEM, is_rehearsal=batch.is_rehearsed)
        attrs = await self._resolved(batch, model, record, values)
        if isinstance(model, UserModel):
            made = await new_person(batch, model, run, self.server, record, attrs)
        else:
            if not model.resource.is_integer and _is_uuid(record.pk):
                attrs["pk"] = record.pk
            made = await model.create(run, attrs)
        for words in run.warnings:
            batch.leave(record.label, words)
        return made

    async def _keep(self, batch: Batch[OldRecord], model: RecordModel, record: OldRecord, found: StoredValues) -> None:
        self._learn(model, record, found)
        if (record.model, record.pk) not in self._before:
            await import_runs.add_record(batch.work.db, self.server.origin, record.model, record.pk, str(found.pk))
            self._before[record.model, record.pk] = str(found.pk)

    def _learn(self, model: RecordModel, record: OldRecord, found: StoredValues) -> None:
        for to, key in found.keys.items():
            old = (record.target or record.pk) if to == TARGET else record.pk
            self.known[to, old] = key
        if record.model == STEP:
            self.stage_targets.add(record.target or record.pk)
        if model.name == "core.applicationentitlement":
            self.known["entitlement", record.target or record.pk] = found.pk
        if not model.resource.is_integer and str(found.pk) != record.pk:
            self._shipped |= {record.pk, record.target or record.pk}
        if isinstance(model, UserModel):
            self.known[PEOPLE, record.pk] = found.pk

    # References

    async def _resolved(
        self, batch: Batch[OldRecord], model: RecordModel, record: OldRecord, values: dict[str, Any]
    ) -> dict[str, Any]:
        """With references to records as they are called here, and without what is not known."""
        if record.model == BINDING:
            values = await self._decider(batch, record, values)
        attrs: dict[str, Any] = {}
        aliases = {field.alias: name for name, field in model.fields.items() if field.alias}
        for word, value in values.items():
            name = aliases.get(word, word)
            field = model.fields.get(name)
            if field is None:
                if name in ("password_hash", "subject", "created_at", "last_login_at"):
                    attrs[name] = value
                else:
                    self._tell_lost(batch, record, word, value)
            elif isinstance(field, References) and isinstance(value, list):
                attrs[name] = [one for one in (self._listed(batch, record, field, old) for old in value) if one]
            elif isinstance(field, Reference):
                attrs[name] = self._one(batch, record, field, value)
            else:
                attrs[name] = value
        return attrs

    def _listed(self, batch: Batch[OldRecord], record: OldRecord, field: References, old: Any) -> Any:
        found = self.known.get((field.to, str(old)))
        if found is None:
            batch.leave(record.label, f"{field.name}: {old} was left out, or is not there")
        return found

    def _one(self, batch: Batch[OldRecord], record: OldRecord, field: Reference, old: Any) -> Any:
        if old in (None, ""):
            return None
        found = self.known.get((field.to, str(old)))
        if found is not None:
            return found
        if field.to == TARGET and not self.server.is_database:
            raise NotTaken("what it decides about is not in the export by that key: import from the database for it")
        if field.required or not (field.name in _MAY_MISS or "flow" in field.name):
            raise NotTaken(f"its {field.name} ({old}) was left out, or is not there")
        batch.leave(record.label, f"its {field.name} ({old}) was left out, or is not there: it is without one now")
        return None

    def _tell_lost(self, batch: Batch[OldRecord], record: OldRecord, name: str, value: Any) -> None:
        """Once for each field of each kind."""
        if name in _NOT_FIELDS or not is_said(value) or (record.model, name) in self._lost:
            return
        self._lost.add((record.model, name))
        kind = record.model.rpartition(".")[2]
        words = f"this field is not known here; {record.label} has it, perhaps others"
        batch.leave(f"{kind}.{name}", words, step="fields")

    # What must not be open because something is missing

    async def _decider(self, batch: Batch[OldRecord], record: OldRecord, values: dict[str, Any]) -> dict[str, Any]:
        """A binding whose policy, group or person was left out is bound to a policy that refuses."""
        places = {
            "policy": "identity_policies.policy_uuid",
            "group": "identity_groups.group_uuid",
            "user": PEOPLE,
        }
        said = {name: str(values[name]) for name in places if values.get(name) not in (None, "")}
        missing = {name: old for name, old in said.items() if (places[name], old) not in self.known}
        refuses = [old for old in said.values() if ("refuses", old) in self.known]
        target = str(values.get("target") or "")
        if not missing and not refuses:
            return values
        if (TARGET, target) not in self.known or values.get("enabled") is False:
            return values
        if ("entitlement", target) in self.known or ("user" in missing and values.get("negate")):
            raise NotTaken(f"its {next(iter(missing or said))} was left out")
        if missing:
            words = f"its {next(iter(missing))} was left out: in its place a policy refuses"
            batch.leave(self._label(record), words)
            self.known[places["policy"], REFUSAL] = await self._refusal(batch.work, REFUSAL)
            values = {name: one for name, one in values.items() if name not in places} | {"policy": REFUSAL}
        # A stage whose policy refuses is passed over, so there it must not refuse.
        return values | {"negate": target in self.stage_targets}

    async def _put_refusal(self, batch: Batch[OldRecord], record: OldRecord) -> None:
        """A policy that could not be taken refuses from now on, under its own name."""
        if not _is_uuid(record.pk):
            return
        name = str(record.values.get("name") or record.pk)[:200]
        try:
            async with batch.work.attempt():
                key = await self._refusal(batch.work, name)
        except (BadBlueprint, Problem):
            return
        self._refuse(record.pk, key)
        if (_REFUSES, record.pk) not in self._before:
            self._before[_REFUSES, record.pk] = key
            await import_runs.add_record(batch.work.db, self.server.origin, _REFUSES, record.pk, key)
        batch.leave(record.label, "a policy of this name that refuses stands where it decided")

    def _refuse(self, old: str, key: str) -> None:
        self.known["identity_policies.policy_uuid", old] = key
        self.known["refuses", old] = key

    async def _refusal(self, work: Work, name: str) -> str:
        model = work.find(Models).find("policies.dummypolicy")
        run = BlueprintRun(work, SYSTEM)
        found = await model.find(run, {"name": name})
        if found is None:
            found = await model.create(run, {"name": name, "result": False, "wait_min": 0, "wait_max": 0})
        return str(found.pk)


def _is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True


def _words(error: Exception) -> str:
    if isinstance(error, InvalidValue):
        return str(error.complaint)
    return words_for(error) or str(error) or type(error).__name__
