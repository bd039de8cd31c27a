"""The filters of whoever looks: compiled once for each version of them, asked once about each version of a status."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import msgspec

from kith.base.caches import ByVersion, UntilWritten
from kith.base.work import Work
from kith.social.filters import store
from kith.social.filters.entities import render_matches
from kith.social.filters.matching import Filters, FoldedText, Match, hides
from kith.social.filters.tables import CONTEXTS
from kith.social.ids import AccountId, StatusId
from kith.social.statuses.filtering import Filtered, ViewerFilters
from kith.social.statuses.texts import texts_of

Value = TypeVar("Value")
MOST_BYTES = 8 << 20
_encode = msgspec.json.Encoder().encode


class _Known(msgspec.Struct, frozen=True):
    version: int
    filters: Filters


_NONE = _Known(0, Filters((), (), ()))


class CompiledFilters(ViewerFilters):
    def __init__(self) -> None:
        self._of_work: WeakKeyDictionary[Work, dict[AccountId, _Known]] = WeakKeyDictionary()
        self._known: ByVersion[_Known] = ByVersion("filters", MOST_BYTES)
        self._matched: ByVersion[tuple[Match, ...]] = ByVersion("filter_matches", MOST_BYTES)

    async def who_matches(
        self, work: Work, viewers: Collection[AccountId], ids: Sequence[StatusId]
    ) -> Mapping[StatusId, set[AccountId]]:
        versions = await store.versions_of(work.db, viewers)
        if not versions or not ids:
            return {}
        known = await self._compiled(work, versions)
        if not known:
            return {}
        texts = {id: FoldedText("\n".join(said)) for id, said in (await texts_of(work.db, ids)).items()}
        found: dict[StatusId, set[AccountId]] = {id: set() for id in texts}
        for (id, text), (me, one) in itertools.product(texts.items(), known.items()):
            if one.touches(text, id):
                found[id].add(me)
            if one.has_many:
                await asyncio.sleep(0)  # others are served meanwhile
        return found

    async def _compiled(self, work: Work, versions: Mapping[AccountId, int]) -> dict[AccountId, Filters]:
        """Of those who have any filter now."""
        kept = {me: self._known.get((me, version)) for me, version in versions.items()}
        missing = [me for me, known in kept.items() if known is None]
        if missing:
            kept |= await self._compile(work, {me: versions[me] for me in missing})
        return {me: known.filters for me, known in kept.items() if known is not None and known.filters}

    async def matches(
        self, work: Work, me: AccountId, ids: Sequence[StatusId], versions: Sequence[int]
    ) -> Mapping[StatusId, Filtered]:
        known = await self._of(work, me)
        if not known.filters:
            return {}
        found: dict[StatusId, tuple[Match, ...]] = {}
        missing: dict[StatusId, int] = {}
        for id, version in zip(ids, versions, strict=True):
            matched = self._matched.get((me, known.version, id, version))
            if matched is None:
                missing[id] = version
            elif matched:
                found[id] = matched
        if missing:
            found |= await self._match(work, me, known, missing)
        return {id: _filtered(work, matches) for id, matches in found.items()} if found else {}

    async def _match(
        self, work: Work, me: AccountId, known: _Known, wanted: Mapping[StatusId, int]
    ) -> dict[StatusId, tuple[Match, ...]]:
        found: dict[StatusId, tuple[Match, ...]] = {}
        for id, texts in (await texts_of(work.db, list(wanted))).items():
            matches = known.filters.match("\n".join(texts), (id,))
            if matches:
                found[id] = matches
            if known.filters.has_many:
                await asyncio.sleep(0)  # others are served meanwhile
            if not work.db.is_writing:
                self._matched.put((me, known.version, id, wanted[id]), matches, 100 * len(matches))
        return found

    async def _of(self, work: Work, me: AccountId) -> _Known:
        """Looked up once for all that one request reads."""
        if work.db.is_writing:
            return await self._look_up(work, me)
        memo = work.find(UntilWritten)
        at, kept_as = memo.now(), ("filters", me)
        known: _Known | None = memo.get(at, kept_as)
        if known is None:
            known = self._of_work.setdefault(work, {}).get(me) or await self._look_up(work, me)
            self._of_work[work][me] = known
            memo.put(at, kept_as, known, size=64)
        return known

    async def _look_up(self, work: Work, me: AccountId) -> _Known:
        version = await store.version_of(work.db, me)
        if version is None:
            return _NONE
        return self._known.get((me, version)) or (await self._compile(work, {me: version}))[me]

    async def _compile(self, work: Work, versions: Mapping[AccountId, int]) -> dict[AccountId, _Known]:
        """Read together, however many they are."""
        rows = await store.of_all(work.db, versions)
        ids = [one.id for one in rows]
        keywords, listed = await store.keywords_of(work.db, ids), await store.statuses_of(work.db, ids)
        owner_of = {one.id: one.account_id for one in rows}
        own_rows, own_keywords, own_listed = (
            _grouped((one.account_id, one) for one in rows),
            _grouped((owner_of[one.filter_id], one) for one in keywords),
            _grouped((owner_of[one.filter_id], one) for one in listed),
        )
        compiled = {}
        for me, version in versions.items():
            filters = Filters(own_rows.get(me, ()), own_keywords.get(me, ()), own_listed.get(me, ()))
            known = compiled[me] = _Known(version, filters)
            if not work.db.is_writing:
                self._known.put((me, version), known, known.filters.size)
        return compiled


def _grouped(pairs: Iterable[tuple[Any, Value]]) -> dict[Any, list[Value]]:
    found: dict[Any, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def _filtered(work: Work, matches: Sequence[Match]) -> Filtered:
    hidden = frozenset(
        context for match in matches for context in CONTEXTS if hides(match, context, work.now)
    )  # fmt: skip
    return Filtered(_encode(render_matches(matches, work.now)), hidden)
