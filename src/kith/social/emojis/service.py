"""Custom emoji: which of them a text uses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

from sqlalchemy import and_, select

from kith.base.db import any_of, query
from kith.base.work import Work
from kith.social.addresses import file_url
from kith.social.emojis.remote_files import key_of
from kith.social.emojis.tables import Emoji, emojis

MOST_CODES = 500  # in the texts of one thing; past them no emoji is looked for
MOST_SHOWN = 100  # different ones of one thing: each is some 200 bytes wherever the thing is shown
MOST_OF_PROFILE = 50
SHORTCODE = re.compile(r"(?<![A-Za-z0-9:]):([A-Za-z0-9_]{2,}):(?![A-Za-z0-9:])")
_named = query(
    select(emojis).where(
        and_(any_of(emojis.c.shortcode, "codes"), any_of(emojis.c.domain, "domains"), ~emojis.c.disabled)
    ),
    Emoji,
)


def codes_in(texts: Sequence[str], most: int = MOST_SHOWN) -> list[str]:
    """The first shortcodes in some texts, each once, in the order they come."""
    found: dict[str, None] = {}
    left = MOST_CODES
    for text in texts:
        if ":" in text and left:
            codes = [match[1] for match in islice(SHORTCODE.finditer(text), left)]
            left -= len(codes)
            found |= dict.fromkeys(codes)
    return list(found)[:most]


async def used_in(work: Work, texts: Sequence[str], domain: str) -> list[dict[str, Any]]:
    """The emoji of `domain` (ours: empty) that the texts name, as they are shown."""
    [found] = await used_in_each(work, [(texts, domain)])
    return found


async def used_in_each(
    work: Work, things: Sequence[tuple[Sequence[str], str]], most: int = MOST_SHOWN
) -> list[list[dict[str, Any]]]:
    """The same for many things, each with its texts and its domain, by one query at most."""
    named = [(codes_in(texts, most), domain) for texts, domain in things]
    codes = {code for used, _ in named for code in used}
    if not codes:
        return [[] for _ in things]
    domains = {domain for used, domain in named if used}
    rows = await work.db.all(_named, codes=sorted(codes), domains=sorted(domains))
    found = {(emoji.shortcode, emoji.domain): emoji for emoji in rows}
    return [[shape(work, found[code, domain]) for code in used if (code, domain) in found] for used, domain in named]


async def find_named(work: Work, codes: Sequence[str]) -> dict[str, Emoji]:
    """The community's own emoji with these shortcodes."""
    rows = await work.db.all(_named, codes=sorted(set(codes)), domains=[""]) if codes else []
    return {emoji.shortcode: emoji for emoji in rows}


async def find_own(work: Work, code: str) -> Emoji | None:
    return (await find_named(work, [code])).get(code)


def shape(work: Work, emoji: Emoji) -> dict[str, Any]:
    """Pictures of other servers are shown from this one: whoever looks is not seen by the other."""
    url = file_url(work.settings, key_of(emoji) if emoji.domain else emoji.file)
    static = emoji.static_file and not emoji.domain
    return {
        "shortcode": emoji.shortcode,
        "url": url,
        "static_url": file_url(work.settings, emoji.static_file) if static else url,
        "visible_in_picker": emoji.visible_in_picker,
    }
