"""The server as blueprints: what is set here, in files that make the same of an empty server."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.blueprints.models import Model, Models, RecordLink, SecretText, StoredValues, Values, shown
from kith.identity.blueprints.outside import PREFIX
from kith.identity.blueprints.record_models import RecordModel
from kith.identity.blueprints.sealed import FileSealer
from kith.identity.blueprints.tags import Env, Find, KeyOf, Sealed

__all__ = ["ExportedEntry", "ExportedFile", "export", "export_some", "export_whole"]


class ExportedEntry(msgspec.Struct, frozen=True):
    """Plain values and tags, ready to be written."""

    model: str
    id: str
    identifiers: Values
    attrs: Values


class ExportedFile(msgspec.Struct, frozen=True):
    name: str
    entries: tuple[ExportedEntry, ...]
    warnings: tuple[str, ...] = ()


class _Record:
    def __init__(self, model: Model, stored: StoredValues) -> None:
        self.model = model
        self.stored = stored
        self.identifiers: tuple[str, ...] = model.natural(stored.values)
        self.id = ""

    def named(self, names: Iterable[str]) -> tuple[Any, ...]:
        return tuple(_comparable(self.stored.values.get(name)) for name in names)


def _comparable(value: Any) -> Any:
    return repr(value) if isinstance(value, (list, dict)) else value


_MANY = frozenset({"core.user", "core.emailblock"})
Hide = Callable[[str, str, str, SecretText], Any]


async def export(work: Work, sealer: FileSealer | None = None) -> list[ExportedFile]:
    """Everything, by files that are applied in the order of their names. Secrets are sealed or left out."""
    return _Export(await _everything(work), _hiding(sealer)).files()


async def export_whole(work: Work, sealer: FileSealer | None = None) -> ExportedFile:
    """Everything in one file."""
    return _Export(await _everything(work), _hiding(sealer)).whole()


async def _everything(work: Work) -> list[_Record]:
    return [_Record(model, one) for model in work.find(Models).listed if model.file for one in await model.every(work)]


async def export_some(
    work: Work, wanted: Iterable[tuple[Model, StoredValues]], name: str, sealer: FileSealer | None = None
) -> ExportedFile:
    """These records in one file; whatever else they refer to is looked up by its names.

    Of people, of whom there may be many, only those are read that the records name.
    """
    mine = [_Record(model, one) for model, one in wanted]
    everything: list[_Record] = []
    for model in work.find(Models).listed:
        if not isinstance(model, RecordModel) or not model.file:
            continue  # nothing refers to it
        if model.name in _MANY:
            keys = dict.fromkeys(link.key for one in mine for link in _links(one) if model.is_named_by(link.to))
            found = [await model.one(work, key) for key in keys]
        else:
            found = [*await model.every(work)]
        everything += [_Record(model, one) for one in found if one is not None]
    return _Export(everything, _hiding(sealer)).some(mine, name)


def _links(one: _Record) -> Iterator[RecordLink]:
    for value in one.stored.values.values():
        yield from (link for link in (value if isinstance(value, list) else [value]) if isinstance(link, RecordLink))


def _hiding(sealer: FileSealer | None) -> Hide:
    """What stands in place of a secret: sealed, or a variable that can be set where the file is applied."""

    def hide(model: str, label: str, field: str, secret: SecretText) -> Any:
        if not secret.text:
            return ""
        if sealer is not None:
            return Sealed(sealer.seal(secret.text, f"{model}.{field}"))
        words = re.sub(r"[^A-Z0-9]+", "_", f"{model.partition('.')[2]}_{label}_{field}".upper())
        return Env(f"{PREFIX}{words[:150]}")

    return hide


class _Export:
    def __init__(self, records: Sequence[_Record], hide: Hide) -> None:
        self._records = records
        self._hide = hide
        self._by_key = {(to, key): one for one in records for to, key in one.stored.keys.items()}
        self._warnings: list[str] = []
        for model in {one.model.name: one.model for one in records}.values():
            self._tell_apart([one for one in records if one.model is model])

    def _tell_apart(self, records: list[_Record]) -> None:
        """Where several have the same name, everything that they say is what they are known by."""
        alike = Counter(one.named(one.identifiers) for one in records)
        for one in records:
            if alike[one.named(one.identifiers)] == 1:
                continue
            values = one.stored.values
            names = [name for name, value in values.items() if not isinstance(value, (list, dict, SecretText))]
            one.identifiers = (*one.identifiers, *(name for name in names if name not in one.identifiers))
        for twin, count in Counter(one.named(one.identifiers) for one in records).items():
            if count > 1:
                told = ", ".join(str(shown(part)) for part in twin[:3])
                self._warnings.append(f"{count} records of {records[0].model.name} cannot be told apart: {told}")

    def _names(self, one: _Record, names: Iterable[str], depth: int = 0) -> list[str]:
        """What people call it by: of records that it refers to, their names."""
        parts: list[str] = []
        for name in names:
            value = one.stored.values.get(name)
            other = self._by_key.get((value.to, value.key)) if isinstance(value, RecordLink) else None
            if other is not None and depth < 5:
                parts.append("-".join(self._names(other, other.model.natural(other.stored.values), depth + 1)))
            else:
                parts.append("" if value is None else str(shown(value)))
        return parts

    def _label(self, one: _Record) -> str:
        return "-".join(part for part in self._names(one, one.model.natural(one.stored.values)) if part)

    def _sorting(self, one: _Record) -> tuple[int, list[str]]:
        return one.model.before_others(one.stored.values), self._names(one, one.identifiers)

    def files(self) -> list[ExportedFile]:
        names = sorted({one.model.file for one in self._records})
        made = [self._file(name, [one for one in self._records if one.model.file == name]) for name in names]
        if made and self._warnings:
            made[0] = msgspec.structs.replace(made[0], warnings=tuple(self._warnings))
        return made

    def whole(self) -> ExportedFile:
        made = self._file("configuration", sorted(self._records, key=lambda one: one.model.file))
        return msgspec.structs.replace(made, warnings=tuple(self._warnings))

    def some(self, wanted: Sequence[_Record], name: str) -> ExportedFile:
        chosen = {(one.model.name, one.stored.pk) for one in wanted}
        return self._file(name, [one for one in self._records if (one.model.name, one.stored.pk) in chosen])

    def _file(self, name: str, records: list[_Record]) -> ExportedFile:
        order = {model: place for place, model in enumerate(dict.fromkeys(one.model.name for one in records))}
        records = sorted(records, key=lambda one: (order[one.model.name], self._sorting(one)))
        taken: Counter[str] = Counter()
        for one in records:
            word = re.sub(r"[^a-z0-9]+", "-", f"{one.model.name.partition('.')[2]}-{self._label(one)}".lower())[
                :80
            ].strip("-")
            taken[word] += 1
            one.id = word if taken[word] == 1 else f"{word}-{taken[word]}"
        mine = {id(one) for one in records}
        entries, late = [], []
        for one, postponed in self._ordered(records):
            entries.append(self._entry(one, mine, left_out=postponed))
            if postponed:
                late.append((one, postponed))
        for one, postponed in late:
            whole = self._entry(one, mine, left_out=frozenset())
            only = {field: value for field, value in whole.attrs.items() if field in postponed}
            entries.append(ExportedEntry(whole.model, "", whole.identifiers, only))
        return ExportedFile(name, tuple(entries))

    def _ordered(self, records: list[_Record]) -> Iterator[tuple[_Record, frozenset[str]]]:
        """Whatever a record refers to comes before it; where that leads in a circle, a field waits for the end."""
        mine, done, order = {id(one) for one in records}, set[int](), list[tuple[_Record, frozenset[str]]]()

        def visit(one: _Record, above: tuple[int, ...]) -> None:
            if id(one) in done:
                return
            postponed = set()
            for field, value in one.stored.values.items():
                for other in sorted(self._referred(value), key=self._sorting):
                    if id(other) not in mine or id(other) in done:
                        continue
                    if id(other) == id(one) or id(other) in above:
                        postponed.add(field)
                    else:
                        visit(other, (*above, id(one)))
            done.add(id(one))
            order.append((one, frozenset(postponed)))

        for one in records:
            visit(one, ())
        yield from order

    def _referred(self, value: Any) -> Iterator[_Record]:
        links = value if isinstance(value, list) else [value]
        for link in links:
            if isinstance(link, RecordLink) and (link.to, link.key) in self._by_key:
                yield self._by_key[link.to, link.key]

    def _entry(self, one: _Record, mine: set[int], left_out: frozenset[str]) -> ExportedEntry:
        values = {
            name: self._written(one, name, value, mine)
            for name, value in one.stored.values.items()
            if name not in left_out
        }
        identifiers = {name: values.pop(name) for name in one.identifiers if name in values}
        return ExportedEntry(one.model.name, one.id, identifiers, values)

    def _written(self, one: _Record, name: str, value: Any, mine: set[int]) -> Any:
        match value:
            case SecretText():
                return self._hide(one.model.name, self._label(one), name, value)
            case RecordLink():
                other = self._by_key.get((value.to, value.key))
                if other is None:
                    return value.key
                return KeyOf(other.id) if id(other) in mine else self._find(other)
            case datetime():
                return value.isoformat()
            case list():
                items = [self._written(one, name, item, mine) for item in value]
                return sorted(items, key=repr) if value and isinstance(value[0], RecordLink) else items
        return value

    def _find(self, other: _Record) -> Find:
        """By its names, whatever they refer to in turn."""
        wanted = []
        for name in other.identifiers:
            value = other.stored.values.get(name)
            if isinstance(value, RecordLink) and (value.to, value.key) in self._by_key:
                value = self._find(self._by_key[value.to, value.key])
            elif isinstance(value, RecordLink):
                value = value.key
            elif isinstance(value, datetime):
                value = value.isoformat()
            wanted.append((name, value))
        return Find(other.model.name, tuple(wanted))
