"""Posts in another language. What was translated is kept for a day, for whoever asks next."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from html import escape
from weakref import WeakValueDictionary

import msgspec

from kith.base.caches import ByVersion
from kith.base.errors import Forbidden, NotFound
from kith.base.work import Work
from kith.social.emojis.service import SHORTCODE
from kith.social.media import store as media
from kith.social.statuses import polls
from kith.social.statuses.tables import PUBLIC, UNLISTED, Status
from kith.social.text.html import clean, plain, shown
from kith.social.translation.providers import UNDETECTED, Languages, Provider
from kith.social.versions import without_counts

__all__ = ["TextTranslator", "Translation", "translate"]

KEPT = timedelta(days=1)
MOST_BYTES = 8 << 20
_TAG = re.compile(r"(<[^<>]*>)")
_WRAPPED = re.compile(r'<span translate="no">(:[A-Za-z0-9_]{2,}:)</span>')

Key = tuple[int, int, str]


class Translation(msgspec.Struct, frozen=True):
    """A post in another language: its texts, and by id those of its poll and its pictures."""

    language: str
    provider: str
    detected: str
    content: str
    spoiler_text: str
    poll_id: int | None
    options: list[str]
    descriptions: list[tuple[int, str]]


class TextTranslator:
    """Whoever translates for this server, or nobody."""

    def __init__(self, provider: Provider | None) -> None:
        self.provider = provider
        self._known: tuple[datetime, Languages] | None = None
        self._kept: ByVersion[tuple[datetime, Translation]] = ByVersion("translations", MOST_BYTES)
        self._asking: WeakValueDictionary[Key | str, asyncio.Lock] = WeakValueDictionary()

    async def languages(self, now: datetime) -> Languages:
        if self.provider is None:
            return {}
        async with self.one_at_a_time("languages"):
            if self._known is None or self._known[0] < now - KEPT:
                self._known = now, await self.provider.languages()
            return self._known[1]

    def find(self, key: Key, now: datetime) -> Translation | None:
        found = self._kept.get(key)
        return found[1] if found is not None and found[0] > now - KEPT else None

    def keep(self, key: Key, made: Translation, now: datetime) -> None:
        texts = (made.content, made.spoiler_text, *made.options, *(text for _, text in made.descriptions))
        self._kept.put(key, (now, made), size=4 * sum(map(len, texts)))

    def one_at_a_time(self, key: Key | str) -> asyncio.Lock:
        """Two who ask for the same cost one translation."""
        return self._asking.setdefault(key, asyncio.Lock())


async def translate(work: Work, status: Status, wanted: str) -> Translation:
    """Only of posts that everybody may read, into a language that the service knows from theirs."""
    translator = work.find(TextTranslator)
    if translator.provider is None:
        raise NotFound
    if status.visibility not in (PUBLIC, UNLISTED):
        raise Forbidden
    source, target = _pair(await translator.languages(work.now), status.language, wanted)
    key = (status.id, without_counts(status.version), target)
    async with translator.one_at_a_time(key):
        found = translator.find(key, work.now)
        if found is None:
            found = await _made(work, translator.provider, status, source, target)
            translator.keep(key, found, work.now)
    return found


def _pair(known: Languages, language: str | None, wanted: str) -> tuple[str | None, str]:
    """From which language into which, as the service writes them: with a country where it knows one."""
    given = language or UNDETECTED
    source = given if given in known else _base(given)
    targets = known.get(source, [])
    target = wanted if wanted in targets else _base(wanted)
    if target not in targets:
        raise Forbidden
    return (None if source == UNDETECTED else source), target


def _base(language: str) -> str:
    return re.split("[-_]", language, maxsplit=1)[0].lower()


async def _made(work: Work, provider: Provider, status: Status, source: str | None, target: str) -> Translation:
    poll = None
    if status.poll_id is not None:
        poll = (await polls.find_all(work.db, [status.poll_id])).get(status.poll_id)
    options = [] if poll is None else poll.options
    rows = await media.of_ids(work.db, status.media_ids)
    told = [(id, rows[id].description or "") for id in status.media_ids if id in rows]
    lines = [status.spoiler_text, *options, *(text for _, text in told)]
    content = status.content if status.local else shown(status.content)
    texts = [_guarded(content), *(_guarded(escape(line, quote=False)) for line in lines)]
    heard, made = await _asked(provider, texts, source, target)
    content, [spoiler, *rest] = clean(_freed(made[0])), [plain(clean(_freed(text))) for text in made[1:]]
    return Translation(
        language=target,
        provider=provider.name,
        detected=heard,
        content=content,
        spoiler_text=spoiler,
        poll_id=None if poll is None else poll.id,
        options=rest[: len(options)],
        descriptions=[(id, text) for (id, _), text in zip(told, rest[len(options) :], strict=True)],
    )


async def _asked(provider: Provider, texts: Sequence[str], source: str | None, target: str) -> tuple[str, list[str]]:
    """What is empty stays so and is not asked for."""
    said = [text for text in texts if text.strip()]
    if not said:
        return source or UNDETECTED, list(texts)
    found = await provider.translate(said, source, target)
    coming = iter(found)
    return found[0].language, [next(coming).text if text.strip() else text for text in texts]


def _guarded(html: str) -> str:
    """Emoji keep their names."""
    if ":" not in html:
        return html
    parts = _TAG.split(html)
    return "".join(
        part if part.startswith("<") else SHORTCODE.sub(r'<span translate="no">\g<0></span>', part) for part in parts
    )


def _freed(html: str) -> str:
    return _WRAPPED.sub(r"\1", html)
