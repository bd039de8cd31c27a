"""What the models of the social half have in common: few records, all known at once, written by the team's verbs."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

import msgspec

from kith.base.errors import Forbidden, NotFound
from kith.base.moments import read_moment
from kith.base.work import Work
from kith.identity.for_configuration import ApiCaller, BadBlueprint, BlueprintRun, SecretText, StoredValues, Values
from kith.social.accounts import user_accounts
from kith.social.ids import UserId
from kith.social.roles import store as roles
from kith.social.staff import OPERATOR, Staff

__all__ = ["ListedModel", "staff_of"]


async def staff_of(work: Work, caller: ApiCaller) -> Staff:
    """Whoever applies a blueprint, as one of the team; the server itself speaks for the operator."""
    if caller.way == "system":
        return OPERATOR
    try:
        account = await user_accounts.of_user(work, UserId(caller.id))
    except NotFound:
        raise Forbidden from None
    role = (await roles.load(work.db)).of(caller.role, account.role_id)
    return Staff(caller.username, UserId(caller.id), account.id, role)


class _Index:
    """All records of a model as they are in a run, found by their keys at once."""

    def __init__(self, key: tuple[str, ...], records: list[StoredValues]) -> None:
        self._key = key
        self.records: dict[Any, StoredValues] = {}
        self._places: dict[tuple[Any, ...], set[Any]] = {}
        for one in records:
            self.put(one)

    def _place(self, values: Values) -> tuple[Any, ...]:
        return tuple(values.get(name) for name in self._key)

    def put(self, one: StoredValues) -> None:
        self.drop(one.pk)
        self.records[one.pk] = one
        self._places.setdefault(self._place(one.values), set()).add(one.pk)

    def drop(self, pk: Any) -> None:
        before = self.records.pop(pk, None)
        if before is not None:
            self._places[self._place(before.values)].discard(pk)

    def matching(self, given: Values) -> list[StoredValues]:
        whole = set(self._key) <= set(given)
        near = [self.records[pk] for pk in self._places.get(self._place(given), ())]
        among = near if whole else list(self.records.values())
        return [one for one in among if all(one.values.get(name) == value for name, value in given.items())]


class ListedModel:
    """`fields` are the types of what an entry can set, `key` is what a record is known by."""

    name: str
    file: str
    permission: str
    key: tuple[str, ...]
    fields: ClassVar[dict[str, Any]]
    slow: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()

    def natural(self, _values: Values) -> tuple[str, ...]:
        return self.key

    def before_others(self, _values: Values) -> int:
        return 0

    async def may(self, work: Work, caller: ApiCaller) -> bool:
        return (await staff_of(work, caller)).may(self.permission)

    async def may_see(self, work: Work, caller: ApiCaller) -> bool:
        return await self.may(work, caller)

    # What each model says for itself

    async def every(self, work: Work) -> list[StoredValues]:
        raise NotImplementedError

    async def add(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        """Returns the identifier."""
        raise NotImplementedError

    async def change(self, run: BlueprintRun, by: Staff, stored: StoredValues, values: Values) -> None:
        """`values` is what differs."""
        raise NotImplementedError

    async def delete(self, run: BlueprintRun, by: Staff, stored: StoredValues) -> None:
        raise NotImplementedError

    async def prepare(self, _run: BlueprintRun, _identifiers: Values, _slow: Values) -> None:
        return None

    async def prepared(self, _run: BlueprintRun) -> None:
        return None

    async def known(self, work: Work) -> list[StoredValues]:
        """Everything that is there, also what an export leaves out."""
        return await self.every(work)

    # What is the same for all

    async def find(self, run: BlueprintRun, wanted: Values) -> StoredValues | None:
        index = await self._index(run)
        if not self.key:
            return next(iter(index.records.values()), None)
        given = self._read(run, {name: value for name, value in wanted.items() if name != "pk"})
        if not given and "pk" not in wanted:
            raise BadBlueprint(f"{self.name} cannot be found by nothing")
        found = index.matching(given) if given else []
        if len(found) > 1:
            raise BadBlueprint(f"several records of {self.name} match")
        if not found and "pk" in wanted:
            found = [one for one in index.records.values() if str(one.pk) == str(wanted["pk"])]
        return found[0] if found else None

    async def create(self, run: BlueprintRun, attrs: Values) -> StoredValues:
        by, values = await staff_of(run.work, run.caller), self._read(run, attrs)
        by.check(self.permission)
        missing = [name for name in self.natural(values) if values.get(name) in (None, "")]
        if missing:
            raise BadBlueprint(f"{missing[0]}: can't be blank")
        pk = await self.add(run, by, {name: _plain(value) for name, value in values.items()})
        return await self._again(run, pk, values)

    async def update(self, run: BlueprintRun, stored: StoredValues, attrs: Values) -> StoredValues:
        by, values = await staff_of(run.work, run.caller), self._read(run, attrs)
        needed = {name: value for name, value in values.items() if value != stored.values.get(name)}
        if not needed:
            return stored
        by.check(self.permission)
        await self.change(run, by, stored, {name: _plain(value) for name, value in needed.items()})
        return await self._again(run, stored.pk, needed)

    async def remove(self, run: BlueprintRun, stored: StoredValues) -> None:
        by = await staff_of(run.work, run.caller)
        by.check(self.permission)
        await self.delete(run, by, stored)
        (await self._index(run)).drop(stored.pk)

    async def one(self, work: Work, pk: Any) -> StoredValues | None:
        """Models with many records find one without looking at all."""
        return next((one for one in await self.known(work) if one.pk == pk), None)

    async def _again(self, run: BlueprintRun, pk: Any, values: Values) -> StoredValues:
        """As it is now, in the index of this run too."""
        found = await self.one(run.work, pk) or StoredValues(pk, values)
        (await self._index(run)).put(found)
        return found

    async def _index(self, run: BlueprintRun) -> _Index:
        if self.name not in run.listed:
            run.listed[self.name] = _Index(self.key, await self.known(run.work))
        index: _Index = run.listed[self.name]
        return index

    def _read(self, run: BlueprintRun, given: Values) -> Values:
        read: Values = {}
        for name, value in given.items():
            if name == "pk":
                continue
            if name not in self.fields:
                run.warn(f"{self.name} has no `{name[:50]}` here, so it was left out")
                continue
            kind = self.fields[name]
            if kind is SecretText:
                if isinstance(value, str) and value:
                    read[name] = SecretText(value)
                continue
            try:
                found = msgspec.convert(value, kind, strict=False)
            except msgspec.ValidationError as error:
                raise BadBlueprint(f"{name}: {str(error).partition(' - at')[0]}") from None
            read[name] = _held(name, found) if isinstance(found, datetime) else found
        return read


def _held(name: str, at: datetime) -> datetime:
    """A moment that names no zone is in UTC."""
    found = read_moment(at.isoformat())
    if found is None:
        raise BadBlueprint(f"{name}: there is no room for such a moment")
    return found


def _plain(value: Any) -> Any:
    return value.text if isinstance(value, SecretText) else value
