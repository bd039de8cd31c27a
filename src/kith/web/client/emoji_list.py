"""/web/emoji: the emoji that everybody has, by groups, with the names by which they are found.

The characters and their names are Unicode's own, as Python and its `regex` know them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from kith.base.exchange import JSON, Answer, Exchange
from kith.base.languages import LANGUAGES
from kith.base.routing import get
from kith.web.page_language import language_of
from kith.web.translation import translatable, translator

__all__ = ["routes"]

A_DAY = (b"cache-control", b"private, max-age=86400")
PICTURE = "\ufe0f"  # after a character that is text by itself: to be drawn as a picture
Ranges = tuple[tuple[int, int], ...]

# Each emoji is in the first group that has it. Flags are made of letters, by the browser, which knows their countries.
GROUPS: tuple[tuple[str, Ranges], ...] = (
    (
        translatable("Faces"),
        (
            (0x1F600, 0x1F644), (0x1F648, 0x1F64A), (0x1F910, 0x1F917), (0x1F920, 0x1F92F), (0x1F970, 0x1F97A),
            (0x1F9D0, 0x1F9D0), (0x1FAE0, 0x1FAEF), (0x2639, 0x263A), (0x1F47B, 0x1F480),
        ),
    ),
    (
        translatable("People"),
        (
            (0x1F440, 0x1F450), (0x1F464, 0x1F487), (0x1F57A, 0x1F57A), (0x1F590, 0x1F596), (0x1F645, 0x1F64F),
            (0x1F90C, 0x1F93E), (0x1F9B0, 0x1F9DF), (0x1FAC3, 0x1FAC5), (0x1FAF0, 0x1FAF8), (0x261D, 0x261D),
            (0x270A, 0x270D), (0x1F3C2, 0x1F3C4), (0x1F3CA, 0x1F3CC),
        ),
    ),
    (
        translatable("Animals and nature"),
        (
            (0x1F400, 0x1F43F), (0x1F980, 0x1F9AF), (0x1F300, 0x1F32C), (0x1F331, 0x1F335), (0x1F337, 0x1F344),
            (0x1FAB0, 0x1FABF), (0x1FACE, 0x1FACF), (0x2600, 0x2604), (0x26C4, 0x26C8), (0x2744, 0x2744),
        ),
    ),
    (
        translatable("Food and drink"),
        (
            (0x1F32D, 0x1F330), (0x1F336, 0x1F336), (0x1F345, 0x1F37F), (0x1F950, 0x1F96F), (0x1F9C0, 0x1F9CB),
            (0x1FAD0, 0x1FADF), (0x2615, 0x2615),
        ),
    ),
    (
        translatable("Travel and places"),
        (
            (0x1F680, 0x1F6FF), (0x1F3D4, 0x1F3F0), (0x1F5FA, 0x1F5FF), (0x26E9, 0x26FA), (0x2693, 0x2693),
            (0x2708, 0x2708),
        ),
    ),
    (translatable("Activities"), ((0x1F380, 0x1F3D3), (0x1F3F8, 0x1F3F9), (0x26BD, 0x26BE), (0x1F93A, 0x1F94F))),
    (
        translatable("Things"),
        (
            (0x1F4A1, 0x1F4FF), (0x1F50A, 0x1F52F), (0x1F54E, 0x1F5F9), (0x1F9E0, 0x1F9FF), (0x1FA60, 0x1FAAF),
            (0x1F451, 0x1F463),
        ),
    ),
    (translatable("Symbols"), ((0x2000, 0x1FFFF),)),
    (translatable("Flags"), ()),
)  # fmt: skip


def _emoji() -> Iterator[tuple[int, str, str]]:
    """Code point, character and name of each; without those that only change or make up others."""
    import regex  # type: ignore[import-untyped] # noqa: PLC0415 - asked for once, by few

    drawn, all_of_them = regex.compile(r"\p{Emoji_Presentation}"), regex.compile(r"\p{Emoji}")
    for code in (*range(0x2000, 0x3300), *range(0x1F000, 0x1FB00)):
        character = chr(code)
        is_part = 0x1F1E6 <= code <= 0x1F1FF or 0x1F3FB <= code <= 0x1F3FF
        name = unicodedata.name(character, "").lower()
        if name and not is_part and all_of_them.match(character):
            yield code, character if drawn.match(character) else character + PICTURE, name


@lru_cache(1)
def _grouped() -> tuple[list[tuple[str, str]], ...]:
    """In the order of the ranges: what most people look for comes first."""
    left = {code: (character, name) for code, character, name in _emoji()}
    groups: tuple[list[tuple[str, str]], ...] = tuple([] for _ in GROUPS)
    for group, (_, ranges) in zip(groups, GROUPS, strict=True):
        for first, last in ranges:
            group += [left.pop(code) for code in sorted(left) if first <= code <= last]
    return groups


@lru_cache(len(LANGUAGES))
def _told(language: str) -> bytes:
    say = translator(language)
    return msgspec.json.encode(
        [{"name": say(name), "emoji": found} for (name, _), found in zip(GROUPS, _grouped(), strict=True)]
    )


@get("/web/emoji")
async def show_emoji(exchange: Exchange) -> Answer:
    return Answer(200, (*JSON, A_DAY), _told(language_of(exchange)))


routes = [show_emoji]
