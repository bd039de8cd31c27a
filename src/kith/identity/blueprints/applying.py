"""Applies blueprints: every entry in one transaction, through the checks and the audit trail of the API."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kith.base.errors import Forbidden, Invalid, Problem
from kith.base.work import Work
from kith.identity.audit.hidden_attributes import hidden_attributes, tells_attributes, without
from kith.identity.blueprints import authentik
from kith.identity.blueprints.evaluation import MOST_STEPS, Evaluation, FoundRecord
from kith.identity.blueprints.models import Model, Models, StoredValues, reference_of, shown
from kith.identity.blueprints.outside import OutsideValues
from kith.identity.blueprints.reading import STATES, Blueprint, BlueprintEntry
from kith.identity.blueprints.run import BlueprintRun, Change, FieldChange, NewPassword
from kith.identity.blueprints.sealed import FileSealer
from kith.identity.blueprints.tags import BadBlueprint, Sealed
from kith.identity.blueprints.user_model import UserModel
from kith.identity.caller import ApiCaller
from kith.identity.rest.fields import MASK
from kith.identity.users import store as users
from kith.identity.users.password_copies import PasswordCopies

__all__ = ["SYSTEM", "Applied", "ReadFile", "apply", "rehearse"]

SYSTEM = ApiCaller(id=0, username="kith", role="owner", permissions=None, way="system")
MOST_PASSWORDS = 100  # each takes a while
# Everybody else who writes waits until a blueprint is applied. Whoever is no superuser keeps them waiting for less.
MOST_SEARCHES = 1_000
MOST_STEPS_OF_DELEGATES = 200_000
NewPasswords = dict[tuple[int, int], NewPassword | None]  # by the number of the file and of the entry
META = frozenset({"authentik_blueprints.metaapplyblueprint", "managed.metaapplyblueprint"})


class ReadFile(msgspec.Struct, frozen=True):
    """A blueprint with what it may read beside itself; `context` goes over its own."""

    blueprint: Blueprint
    outside: OutsideValues
    context: Mapping[str, Any] = {}
    name: str = ""


class Applied(msgspec.Struct, frozen=True):
    changes: tuple[Change, ...]
    warnings: tuple[str, ...]
    models: tuple[str, ...]


class _Undone(Exception):  # noqa: N818 - nothing went wrong
    """Ends a rehearsal."""


async def apply(work: Work, caller: ApiCaller, files: Sequence[ReadFile], sealer: FileSealer | None = None) -> Applied:
    """All of it or, with `BadBlueprint` or another problem, nothing."""
    passwords = await _hash_ahead(work, caller, files, sealer)
    run = BlueprintRun(work, caller)
    await _prepare(run, files)
    if any(one is not None and one.is_known for one in passwords.values()):
        await _copy_ahead(run, files, sealer, passwords)
    return await _apply(run, files, sealer, passwords)


async def _apply(
    run: BlueprintRun, files: Sequence[ReadFile], sealer: FileSealer | None, passwords: NewPasswords
) -> Applied:
    work = run.work
    async with work.attempt():
        await work.db.begin()
        await work.db.hold("identity.blueprints")
        for number, file in enumerate(files):
            own = {place: one for (of, place), one in passwords.items() if of == number}
            await _File(run, file, sealer, own).apply()
    return Applied(tuple(run.changes), tuple(run.warnings), tuple(sorted(run.models)))


async def rehearse(
    work: Work, caller: ApiCaller, files: Sequence[ReadFile], sealer: FileSealer | None = None
) -> Applied:
    """What applying would do; nothing of it stays."""
    passwords = await _hash_ahead(work, caller, files, sealer)
    run = BlueprintRun(work, caller, is_rehearsal=True)
    await _prepare(run, files)
    return await _rehearse(run, files, sealer, passwords)


async def _rehearse(
    run: BlueprintRun, files: Sequence[ReadFile], sealer: FileSealer | None, passwords: NewPasswords
) -> Applied:
    found: list[Applied] = []
    try:
        async with run.work.attempt():
            found.append(await _apply(run, files, sealer, passwords))
            raise _Undone
    except _Undone:
        return found[0]


async def _copy_ahead(
    run: BlueprintRun, files: Sequence[ReadFile], sealer: FileSealer | None, passwords: NewPasswords
) -> None:
    """New passwords go to the directories that take them, while nothing is written here.

    A rehearsal tells whose are set, and that nothing else is wrong: what a directory has taken, it does not give back.
    """
    async with run.work.aside() as aside:
        tried = BlueprintRun(aside, run.caller, is_rehearsal=True)
        tried.prepared = run.prepared
        await _rehearse(tried, files, sealer, passwords)
        await aside.rollback()
        for id, text in tried.passwords.items():
            user = await users.get(aside.db, id)
            try:
                await aside.find(PasswordCopies).write(aside, user, text)  # type: ignore[type-abstract]
            except Problem as error:
                raise BadBlueprint(f"core.user {user.username}: {_words(error)}") from error


async def _prepare(run: BlueprintRun, files: Sequence[ReadFile]) -> None:
    """What takes long is done while nobody waits for the transaction."""
    models = run.work.find(Models)
    slow: dict[str, Model] = {}
    try:
        for file in files:
            outer = Evaluation(
                {**file.blueprint.context, **file.context}, file.outside, {}, None, _most_steps(run.caller)
            )
            for entry in file.blueprint.entries:
                if entry.model in META or entry.model in authentik.LEFT_OUT:
                    continue
                with _where(file, entry):
                    model = models.find(entry.model)
                    given = {name: entry.attrs[name] for name in model.slow if name in entry.attrs}
                    if not given:
                        continue
                    if model.name not in slow:
                        await _check_right(run, model)
                        slow[model.name] = model
                    await model.prepare(run, await outer.value(entry.identifiers), await outer.value(given))
    finally:
        for model in slow.values():
            await model.prepared(run)
    run.listed.clear()  # others may write before the transaction begins


async def _check_right(run: BlueprintRun, model: Model) -> None:
    if not await model.may(run.work, run.caller):
        raise Forbidden(f"User lacks permission to create {model.name}", extra={"code": "permission_denied"})


async def _hash_ahead(
    work: Work, caller: ApiCaller, files: Sequence[ReadFile], sealer: FileSealer | None
) -> NewPasswords:
    """Passwords take long to hash, so that is done while nobody waits for the transaction.

    Only the server itself looks whether somebody has that password already: others could guess with it.
    """
    passwords: NewPasswords = {}
    models = work.find(Models)
    for number, file in enumerate(files):
        outer = Evaluation({**file.blueprint.context, **file.context}, file.outside, {}, None, _most_steps(caller))
        for place, entry in enumerate(file.blueprint.entries):
            if "password" not in entry.attrs or entry.model in META:
                continue
            model = models.find(entry.model)
            if not isinstance(model, UserModel):
                continue
            with _where(file, entry):
                password = _opened(entry.attrs["password"], model, "password", sealer)
                name = entry.identifiers.get("username", entry.attrs.get("username"))
                if caller.way != "system" and not caller.may("core.reset_user_password"):
                    raise Forbidden("You do not have permission to reset passwords.")
                if caller.way != "system" and len(passwords) >= MOST_PASSWORDS:
                    raise BadBlueprint(f"there are more than {MOST_PASSWORDS} passwords in it")
                passwords[number, place] = await model.hash_ahead(
                    work, await outer.value(name), await outer.value(password), compares=caller.way == "system"
                )
    return passwords


class _File:
    """One blueprint on its way into the database."""

    def __init__(
        self, run: BlueprintRun, file: ReadFile, sealer: FileSealer | None, passwords: Mapping[int, NewPassword | None]
    ) -> None:
        self._run = run
        self._file = file
        self._sealer = sealer
        self._passwords = passwords
        self._models = run.work.find(Models)
        self._known: dict[str, FoundRecord] = {}
        self._searches = 0
        context = {**file.blueprint.context, **file.context}
        self._evaluation = Evaluation(context, file.outside, self._known, self._find, _most_steps(run.caller))

    async def apply(self) -> None:
        await self._check_rights()
        for place, entry in enumerate(self._file.blueprint.entries):
            with _where(self._file, entry):
                self._run.password = self._passwords.get(place)
                await self._apply(entry)
            if place % 20 == 19:
                await asyncio.sleep(0)  # others have a turn

    async def _check_rights(self) -> None:
        for entry in self._file.blueprint.entries:
            if entry.model in META or entry.model in authentik.LEFT_OUT:
                continue
            with _where(self._file, entry):
                model = self._models.find(entry.model)
            await _check_right(self._run, model)

    async def _find(self, name: str, wanted: dict[str, Any], whole: bool) -> Any:
        self._searches += 1
        if self._searches > MOST_SEARCHES and self._run.caller.permissions is not None:
            raise BadBlueprint(f"there are more than {MOST_SEARCHES} !Find and !FindObject")
        model = self._models.find(name)
        if not await model.may_see(self._run.work, self._run.caller):
            raise Forbidden(f"User lacks permission to view {model.name}", extra={"code": "permission_denied"})
        wanted = authentik.identifiers(wanted)
        found = await model.find(self._run, wanted)
        if found is None:
            told = ", ".join(f"{field} = {str(shown(value))[:80]}" for field, value in wanted.items())
            self._run.warn(f"nothing was found for !Find {model.name}: {told}")
            return None
        if whole:
            return {"pk": found.pk, **await self._visible(model, found.values)}
        return reference_of(model, found)

    async def _visible(self, model: Model, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values as the caller may see them."""
        visible: dict[str, Any] = shown(dict(values))
        if self._run.caller.permissions is None:
            return visible
        visible |= {name: MASK for name in model.guarded if visible.get(name)}
        if tells_attributes(visible):
            visible = without(visible, await hidden_attributes(self._run.work), MASK)
        return visible

    async def _apply(self, entry: BlueprintEntry) -> None:
        if entry.model in META:
            return self._run.warn("another blueprint that this one wants is not applied by it: put it before this one")
        if entry.model in authentik.LEFT_OUT:
            return self._run.warn(f"there is nothing like {entry.model} here, so it was left out")
        value = self._evaluation.value
        for condition in entry.conditions:
            if not await value(condition):
                return None
        state = await value(entry.state)
        if state not in STATES:
            raise BadBlueprint(f"`state` must be one of {', '.join(STATES)}")
        if entry.permissions:
            self._run.warn("permissions on single records are not known here, so they were left out")
        model = self._models.find(entry.model)
        identifiers = authentik.identifiers(await value(entry.identifiers))
        attrs = {name: await self._attr(model, name, one) for name, one in entry.attrs.items()}
        attrs = authentik.attributes(entry.model, attrs)
        await self._put(model, entry, state, identifiers, attrs)
        return None

    async def _attr(self, model: Model, name: str, given: Any) -> Any:
        return await self._evaluation.value(_opened(given, model, name, self._sealer))

    async def _put(
        self, model: Model, entry: BlueprintEntry, state: str, identifiers: dict[str, Any], attrs: dict[str, Any]
    ) -> None:
        run = self._run
        run.models.add(model.name)
        if not identifiers and model.natural({}):
            raise BadBlueprint(f"an entry of {model.name} needs `identifiers`")
        stored = await model.find(run, identifiers)
        if state == "absent":
            if stored is not None:
                await model.remove(run, stored)
                run.changes.append(Change("removed", model.name, _label(model, stored)))
            return
        if stored is None:
            made = await model.create(run, attrs | identifiers)
            told = await self._visible(model, made.values)
            new = tuple(FieldChange(name, None, _short(one)) for name, one in told.items() if _says(one))
            run.changes.append(Change("added", model.name, _label(model, made), new))
            stored = made
        elif state == "must_created":
            raise BadBlueprint("it is there already, but must be made here")
        elif state == "present":
            others = {name: one for name, one in identifiers.items() if name != "pk"}
            stored = await self._changed(model, stored, attrs | others)
        if entry.id:
            self._known[entry.id] = reference_of(model, stored)

    async def _changed(self, model: Model, stored: StoredValues, attrs: dict[str, Any]) -> StoredValues:
        now = await model.update(self._run, stored, attrs)
        was, becomes = await self._visible(model, stored.values), await self._visible(model, now.values)
        fields = tuple(
            FieldChange(name, _short(was.get(name)), _short(becomes[name]))
            for name, one in now.values.items()
            if one != stored.values.get(name)
        )
        if fields:
            self._run.changes.append(Change("changed", model.name, _label(model, now), fields))
        return now


def _most_steps(caller: ApiCaller) -> int:
    return MOST_STEPS if caller.permissions is None else MOST_STEPS_OF_DELEGATES


def _opened(given: Any, model: Model, name: str, sealer: FileSealer | None) -> Any:
    if not isinstance(given, Sealed):
        return given
    if sealer is None:
        raise BadBlueprint(f"`{name}` is sealed: give the key it was exported with")
    return sealer.open(given.text, f"{model.name}.{name}")


def _short(value: Any) -> Any:
    """As much as people look at: a picture as text is long."""
    return f"{value[:300]}..." if isinstance(value, str) and len(value) > 300 else value


def _says(value: Any) -> bool:
    return value not in (None, "", [], {})


def _label(model: Model, stored: StoredValues) -> str:
    parts = [shown(stored.values.get(name)) for name in model.natural(stored.values)]
    return " ".join(str(part)[:100] for part in parts if part not in (None, ""))


class _where:  # noqa: N801 - reads like a word of the language
    """Says of a problem where in which file it is."""

    def __init__(self, file: ReadFile, entry: BlueprintEntry) -> None:
        self._place = f"{file.name}, " if file.name else ""
        self._place += f"line {entry.line} ({entry.model})"

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, Forbidden):
            return
        if isinstance(error, BadBlueprint):
            raise BadBlueprint(f"{self._place}: {error}") from error
        if isinstance(error, Problem):
            raise BadBlueprint(f"{self._place}: {_words(error)}") from error


def _words(problem: Problem) -> str:
    if isinstance(problem, Invalid) and problem.fields:
        return "; ".join(
            f"{name}: {', '.join(str(one) for one in said)}" if name else ", ".join(str(one) for one in said)
            for name, said in problem.fields.items()
        )
    return str(problem.message) or type(problem).__name__
