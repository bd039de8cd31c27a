"""Works the tags of a blueprint out, with a limit on how much can come of them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from kith.identity.blueprints import tags
from kith.identity.blueprints.outside import OutsideValues
from kith.identity.blueprints.tags import BadBlueprint

__all__ = ["Evaluation", "FoundRecord"]

MOST_STEPS = 2_000_000
MOST_DEPTH = 60
LONGEST_TEXT = 1 << 20
TURN = 2000
_PLACE = re.compile(r"%(?:(-?\d{1,3})?([sd])|%|.|\Z)", re.DOTALL)


class FoundRecord(msgspec.Struct, frozen=True):
    """A record that a tag has led to. `keys` are its identifiers by the columns that others refer to it by."""

    model: str
    pk: Any
    keys: Mapping[str, Any]

    def __str__(self) -> str:
        return str(self.pk)


Finder = Callable[[str, dict[str, Any], bool], Awaitable[Any]]


class Evaluation:
    """`known` are the records of entries by the entries' ids; `find` looks for records that are there."""

    def __init__(
        self,
        context: Mapping[str, Any],
        outside: OutsideValues,
        known: Mapping[str, FoundRecord],
        find: Finder | None,
        most_steps: int = MOST_STEPS,
    ) -> None:
        self._context = context
        self._outside = outside
        self._known = known
        self._find = find
        self._steps = 0
        self._left = most_steps  # steps, and text by its length: what is named often may be written out
        self._sizes: dict[
            int, tuple[Any, int]
        ] = {}  # of lists and mappings, which stay here so that an id is one thing
        self._items: list[tuple[Any, Any]] = []  # the enumerations around, the outermost first
        self._depth = 0

    async def value(self, given: Any) -> Any:
        self._steps += 1
        self._spend(1 + (len(given) >> 6 if isinstance(given, str) else 0))
        if self._steps % TURN == 0:
            await asyncio.sleep(0)  # others have a turn
        if self._depth >= MOST_DEPTH:
            raise BadBlueprint("its tags lead too deep, or to themselves")
        self._depth += 1
        try:
            if isinstance(given, dict):
                return {name: await self.value(one) for name, one in given.items()}
            if isinstance(given, list):
                return [await self.value(one) for one in given]
            if isinstance(given, tags.BlueprintTag):
                return await self._tag(given)
            return given
        finally:
            self._depth -= 1

    def _spend(self, cost: int) -> None:
        self._left -= cost
        if self._left < 0:
            raise BadBlueprint("too much comes of its tags")

    def _size(self, made: Any) -> int:
        """How much it is when it is written out; each list is looked at once."""
        if isinstance(made, str):
            return 1 + (len(made) >> 6)
        if not isinstance(made, (dict, list)):
            return 1
        known = self._sizes.get(id(made))
        if known is None:
            parts = made.values() if isinstance(made, dict) else made
            known = self._sizes[id(made)] = made, 1 + sum(self._size(one) for one in parts)
        return known[1]

    async def _tag(self, tag: tags.BlueprintTag) -> Any:  # noqa: C901 - one case for each tag
        match tag:
            case tags.KeyOf():
                if tag.id not in self._known:
                    raise BadBlueprint(
                        f"line {tag.line}: no entry before this one has the id {tag.id!r}, or it made no record"
                    )
                return self._known[tag.id]
            case tags.Find():
                return await self._found(tag)
            case tags.Context():
                return await self.value(self._context.get(tag.key, tag.default))
            case tags.Env():
                return await self.value(self._outside.variable(tag))
            case tags.File():
                return await self.value(self._outside.file(tag))
            case tags.Format():
                return await self._format(tag)
            case tags.If():
                return await self.value(tag.then if await self.value(tag.condition) else tag.otherwise)
            case tags.Condition():
                return _decide(tag.mode, [bool(await self.value(one)) for one in tag.values])
            case tags.Enumerate():
                return await self._enumerate(tag)
            case tags.Index() | tags.Item():
                found = self._item(tag.depth, tag.line)[0 if isinstance(tag, tags.Index) else 1]
                self._spend(self._size(found))  # each time that it is named: lists that hold others twice grow fast
                return found
            case tags.AtIndex():
                return await self._at_index(tag)
        raise BadBlueprint(f"line {tag.line}: a sealed text can only be the value of a field")

    async def _found(self, tag: tags.Find) -> Any:
        if self._find is None:
            raise BadBlueprint(f"line {tag.line}: a password cannot come from another record")
        wanted = {name: await self.value(one) for name, one in tag.wanted}
        return await self._find(tag.model, wanted, tag.whole)

    async def _format(self, tag: tags.Format) -> str:
        text = await self.value(tag.text)
        values = [await self.value(one) for one in tag.values]
        if not isinstance(text, str):
            raise BadBlueprint(f"line {tag.line}: !Format takes a text first")
        rest = iter(values)
        left = LONGEST_TEXT - len(text)

        def put(place: re.Match[str]) -> str:
            nonlocal left
            if place[0] == "%%":
                return "%"
            if place[2] is None:
                raise BadBlueprint(f"line {tag.line}: !Format knows %s, %d and %% only")
            try:
                word = f"%{place[1] or ''}{place[2]}" % (next(rest),)
            except (StopIteration, TypeError, ValueError):
                raise BadBlueprint(f"line {tag.line}: the values do not fit the text of !Format") from None
            left -= len(word)
            if left < 0:
                raise BadBlueprint(f"line {tag.line}: what !Format makes is too long")
            return word

        made = _PLACE.sub(put, text)
        if next(rest, rest) is not rest:
            raise BadBlueprint(f"line {tag.line}: there are more values than places in !Format")
        self._left -= len(made) // 64
        return made

    async def _enumerate(self, tag: tags.Enumerate) -> Any:
        items = await self.value(tag.items)
        if isinstance(items, dict):
            pairs = list(items.items())
        elif isinstance(items, list):
            pairs = list(enumerate(items))
        else:
            raise BadBlueprint(f"line {tag.line}: !Enumerate takes a list or a mapping")
        made: list[Any] = []
        for pair in pairs:
            self._items.append(pair)
            try:
                made.append(await self.value(tag.body))
            finally:
                self._items.pop()
        if not tag.is_mapping:
            return made
        return {str(key): value for key, value in made}

    def _item(self, depth: int, line: int) -> tuple[Any, Any]:
        if depth >= len(self._items):
            raise BadBlueprint(f"line {line}: there is no !Enumerate around this")
        return self._items[-1 - depth]

    async def _at_index(self, tag: tags.AtIndex) -> Any:
        of, key = await self.value(tag.of), await self.value(tag.key)
        if isinstance(of, dict) and str(key) in of:
            return of[str(key)]
        is_place = isinstance(of, list) and isinstance(key, int) and not isinstance(key, bool)
        if is_place and -len(of) <= key < len(of):
            return of[key]
        if tag.default is msgspec.UNSET:
            raise BadBlueprint(f"line {tag.line}: there is nothing at {str(key)[:50]!r}")
        return await self.value(tag.default)


def _decide(mode: str, values: list[bool]) -> bool:
    found = {
        "AND": all(values),
        "OR": any(values),
        "XOR": sum(values) % 2 == 1,
    }
    base = mode.removeprefix("N") if mode in ("NAND", "NOR") else "XOR" if mode == "XNOR" else mode
    return found[base] is (base == mode)
