"""Which filters a text meets. Filters are compiled once for each version of an account's filters.

Texts are compared without case. A keyword that must be a whole word needs no letter, digit or mark beside it, at an end
where it has one itself: in every script, and without a pattern that anybody could make expensive. Scripts that are
written without spaces have an end of a word beside each letter, as Unicode's own word boundaries do (UAX 29).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from functools import cached_property

import msgspec

from kith.social.filters.tables import Filter, FilteredStatus, Keyword
from kith.social.ids import StatusId

MOST_CHARACTERS = 10_000  # of a status that are looked at
# Looking for a word in a longer text than this, Python chooses a way whose cost does not grow with the word.
PADDING = "\0" * 30_000
MANY_WORDS = 50  # to look for so many may take a millisecond or more
START = 4  # characters of a keyword that are looked for first
MOST_PLACES = 2_000  # inside of other words, after which no whole word is looked for any further in a text
NEAR = 4  # places for one word, after which the next one is looked for at the next end of a word


# Letters of Thai, Lao, Burmese, Khmer, Hiragana and Chinese characters.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005\u3007\u3041-\u309f\u3400-\u4dbf"
                       "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")  # fmt: skip


class Match(msgspec.Struct, frozen=True):
    """A filter that a status meets, by words of its text or because it was put into the filter."""

    filter: Filter
    keywords: tuple[str, ...]
    status_ids: tuple[StatusId, ...]


class _Word(msgspec.Struct, frozen=True):
    folded: str
    keyword: str
    is_whole: bool


class _Rule(msgspec.Struct, frozen=True):
    filter: Filter
    words: tuple[_Word, ...]
    status_ids: frozenset[StatusId]


class FoldedText:
    """What a status says, made ready once for however many accounts' filters."""

    def __init__(self, text: str) -> None:
        self._plain = text[:MOST_CHARACTERS].casefold()
        self.folded = self._plain + PADDING

    @cached_property
    def starts(self) -> frozenset[str]:
        return frozenset(self._plain[at : at + START] for at in range(len(self._plain) - START + 1))

    @cached_property
    def _edges(self) -> list[int]:
        """Places between two characters at which a word ends and another may begin."""
        text = self._plain
        return [at for at in range(1, len(text)) if not _is_one_word(text[at - 1], text[at])]

    def edge_after(self, at: int) -> int:
        """The next of these places, or the end of the text."""
        place = bisect_right(self._edges, at)
        return self._edges[place] if place < len(self._edges) else len(self._plain)


class _Search:
    """Looks for words in one text. All of them together may be found inside of other words only so often."""

    def __init__(self, text: FoldedText) -> None:
        self._text = text
        self._left = MOST_PLACES

    def position(self, word: _Word) -> int:
        """The first place of the word in the text, after case folding; -1 if it has none."""
        folded, begin, tried = self._text.folded, 0, 0
        while self._left > 0:
            at = folded.find(word.folded, begin)
            if at < 0 or not word.is_whole:
                return at
            end = at + len(word.folded)
            before, after = folded[at - 1 : at] if at else "", folded[end : end + 1]
            if not _is_one_word(before, word.folded[:1]) and not _is_one_word(word.folded[-1:], after):
                return at
            self._left -= 1
            tried += 1
            begin = at + 1 if tried < NEAR else self._text.edge_after(at)
        return -1


class Filters:
    """All filters of an account, ready to be asked."""

    def __init__(self, rows: Sequence[Filter], keywords: Sequence[Keyword], statuses: Sequence[FilteredStatus]) -> None:
        own_words: dict[int, list[_Word]] = defaultdict(list)
        own_statuses: dict[int, set[StatusId]] = defaultdict(set)
        for keyword in keywords:
            own_words[keyword.filter_id].append(_word(keyword))
        for status in statuses:
            own_statuses[status.filter_id].add(status.status_id)
        self._rules = tuple(_Rule(one, tuple(own_words[one.id]), frozenset(own_statuses[one.id])) for one in rows)
        words = [word for rule in self._rules for word in rule.words]
        self.has_many = len(words) > MANY_WORDS
        self._short = tuple(word for word in words if len(word.folded) < START)
        self._long = tuple((word.folded[:START], word) for word in words if len(word.folded) >= START)
        self._starts = frozenset(start for start, _ in self._long)
        self._listed = frozenset[StatusId]().union(*(rule.status_ids for rule in self._rules))
        self.size = sum(len(keyword.keyword) for keyword in keywords) + 200 * (len(rows) + len(keywords))

    def __bool__(self) -> bool:
        return bool(self._rules)

    def touches(self, text: FoldedText, status_id: StatusId) -> bool:
        """Whether there is any match at all. A text that has the start of no keyword has none of them."""
        search = _Search(text)
        if status_id in self._listed or any(search.position(word) >= 0 for word in self._short):
            return True
        if self._starts.isdisjoint(text.starts):
            return False
        return any(search.position(word) >= 0 for start, word in self._long if start in text.starts)

    def match(self, text: str, status_ids: Sequence[StatusId]) -> tuple[Match, ...]:
        """The filters that a status meets, expired ones too; words as the status has them, where folding moved none.

        `status_ids` are its own id and that of what it boosts.
        """
        text = text[:MOST_CHARACTERS]
        search, is_moved = _Search(FoldedText(text)), len(text.casefold()) != len(text)
        found = []
        for rule in self._rules:
            places = [(word, search.position(word)) for word in rule.words]
            words = tuple(
                word.keyword if is_moved else text[at : at + len(word.folded)] for word, at in places if at >= 0
            )
            listed = tuple(id for id in status_ids if id in rule.status_ids)
            if words or listed:
                found.append(Match(rule.filter, words, listed))
        return tuple(found)


def lasts(match: Match, now: datetime) -> bool:
    return match.filter.expires_at is None or match.filter.expires_at > now


def hides(match: Match, context: str, now: datetime) -> bool:
    """Whether the server itself leaves the status out there."""
    return match.filter.action == "hide" and context in match.filter.context.split() and lasts(match, now)


def _word(keyword: Keyword) -> _Word:
    return _Word(keyword.keyword.casefold(), keyword.keyword, keyword.whole_word)


def _is_part(character: str) -> bool:
    """Whether it belongs to a word: letters, digits, what is written onto them, and the low line."""
    return character.isalnum() or character == "_" or _is_mark(character)


def _is_mark(character: str) -> bool:
    return bool(character) and unicodedata.category(character)[0] == "M"


def _is_one_word(left: str, right: str) -> bool:
    """Whether two characters beside each other belong to the same word; either may be none."""
    if not _is_part(left) or not _is_part(right):
        return False
    return _is_mark(right) or not (_UNSPACED.match(left) or _UNSPACED.match(right))
