"""A profile's words: as they were typed, and as they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kith.base.work import Work
from kith.social.accounts import store
from kith.social.addresses import tag_url
from kith.social.text.html import to_html, to_line
from kith.social.text.parts import mentions

MOST_MENTIONS = 50

Row = dict[str, Any]
People = dict[tuple[str, str], tuple[str, str]]


async def people_in(work: Work, texts: Sequence[str]) -> People:
    """Whoever is mentioned and known here."""
    named = list(dict.fromkeys(one for text in texts for one in mentions(text)))[:MOST_MENTIONS]
    is_ours = work.settings.is_own_domain
    keys = {(name, domain): (name, "" if is_ours(domain) else domain) for name, domain in named}
    known = await store.find_all_named(work.db, list(dict.fromkeys(keys.values())))
    return {
        spelled: (one.url or one.uri, one.username)
        for spelled, key in keys.items()
        if (one := known.get(key)) is not None and one.is_listed and not one.is_gone
    }


def show_note(work: Work, note: str, people: People) -> str:
    return to_html(note, people, lambda name: tag_url(work.settings, name), own_links=True)


def show_fields(work: Work, rows: Sequence[tuple[str, str]], before: Sequence[Row], people: People) -> list[Row]:
    """A row that says what it said before is still verified."""
    verified = {field["value"]: field.get("verified_at") for field in before}
    return [
        {
            "name": name,
            "value": value,
            "html": to_line(value, people, lambda tag: tag_url(work.settings, tag)),
            "verified_at": verified.get(value),
        }
        for name, value in rows
    ]
